//! The contract of a server, or of a model for tests.

use antiphon::tracker::{Continuation, ConversationId};
use antiphon::{Item, ItemId};
use async_trait::async_trait;

use super::{Answer, ModelError, ModelRequest};

/// A server of models. Only [`respond`](Self::respond) is required; a server that stores no state
/// has none of the others.
///
/// A backend sends the items of a request as they are, and sends no request a second time: the run
/// decides about both.
#[async_trait]
pub trait Backend: Send + Sync + 'static {
    /// Starts an answer. An error is a request that has no answer; an answer can fail later.
    async fn respond(&self, request: ModelRequest) -> Result<Answer, ModelError>;

    /// The items that the server holds, in order. Of a chain, those up to its latest response.
    async fn items(&self, continuation: &Continuation) -> Result<Vec<Item>, ModelError> {
        let _ = continuation;
        Err(stores_nothing())
    }

    /// Posts items to a conversation, without a turn of the model.
    async fn deliver(
        &self,
        conversation: &ConversationId,
        items: Vec<Item>,
    ) -> Result<(), ModelError> {
        let _ = (conversation, items);
        Err(stores_nothing())
    }

    /// Deletes items of a conversation.
    async fn delete_items(
        &self,
        conversation: &ConversationId,
        ids: Vec<ItemId>,
    ) -> Result<(), ModelError> {
        let _ = (conversation, ids);
        Err(stores_nothing())
    }

    /// Begins a conversation with these items.
    async fn create_conversation(&self, items: Vec<Item>) -> Result<ConversationId, ModelError> {
        let _ = items;
        Err(stores_nothing())
    }

    /// Compacts the input of a request: returns the items that replace it.
    async fn compact(&self, request: ModelRequest) -> Result<Vec<Item>, ModelError> {
        let _ = request;
        Err(ModelError::unsupported("The server of this model has no endpoint for compaction."))
    }
}

fn stores_nothing() -> ModelError {
    ModelError::unsupported(
        "The server of this model stores no conversations and no responses. \
         Use a session, or resend the history.",
    )
}

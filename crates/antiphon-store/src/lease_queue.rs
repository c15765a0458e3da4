//! The queue of a conversation, if several processes share its store.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::ids::{ConversationId, Tenant};
use crate::records::QueuePlace;

type Result<T> = std::result::Result<T, StoreError>;

/// A queue that decides which process runs the next turn of a conversation: the first in it.
///
/// Each place belongs to a process. If the process stops reporting that it is alive, the queue
/// skips and removes its places. A later commit from such a place fails with
/// [`StoreError::LeaseLost`].
#[async_trait]
pub trait LeaseQueue: Send + Sync {
    /// Takes the last place.
    async fn join(&self, tenant: &Tenant, id: &ConversationId) -> Result<QueuePlace>;

    /// Whether this place is the first. Fails with [`StoreError::LeaseLost`] if the place was
    /// removed.
    async fn is_first(
        &self,
        tenant: &Tenant,
        id: &ConversationId,
        place: QueuePlace,
    ) -> Result<bool>;

    /// Gives up the place, first or not.
    async fn leave(&self, tenant: &Tenant, id: &ConversationId, place: QueuePlace) -> Result<()>;
}

//! The owner of a conversation's state, which an application chooses once.

use std::fmt;
use std::sync::Arc;

use antiphon::Item;
use antiphon::tracker::{Continuation, ConversationId, ResponseId};

use crate::machine::NewOwner;
use crate::session::SessionStore;

/// The owner of a conversation's state: the party that keeps its items between runs.
///
/// | | items are kept by | next run |
/// |---|---|---|
/// | [`replay`](Self::replay) | the application | [`RunResult::next_input`] |
/// | [`session`](Self::session) | a [`SessionStore`] | the same key |
/// | [`conversation`](Self::conversation) | a server, in a conversation | the same id |
/// | [`chain`](Self::chain) | a server, in responses | [`RunResult::next_state`] |
///
/// [`RunResult::next_input`]: crate::run::RunResult::next_input
/// [`RunResult::next_state`]: crate::run::RunResult::next_state
#[derive(Clone)]
pub struct State {
    pub(crate) owner: NewOwner,
    pub(crate) sessions: Option<Arc<dyn SessionStore>>,
    /// Outputs that the last run could not send, for a chain.
    pub(crate) unsent: Vec<Item>,
    /// The number of items of the history that the model is given; `None` for all.
    pub(crate) last: Option<usize>,
}

impl State {
    /// The application keeps the items. `items` are those before this run.
    pub fn replay(items: impl IntoIterator<Item = Item>) -> Self {
        Self::new(NewOwner::Replay(items.into_iter().collect()))
    }

    /// Nobody keeps the items: the run begins a conversation.
    pub fn empty() -> Self {
        Self::replay([])
    }

    /// A session of the application's own store.
    pub fn session(store: impl SessionStore, key: impl Into<String>) -> Self {
        Self::shared_session(Arc::new(store), key)
    }

    /// A session of a store that is shared.
    pub fn shared_session(store: Arc<dyn SessionStore>, key: impl Into<String>) -> Self {
        Self { sessions: Some(store), ..Self::new(NewOwner::Session(key.into())) }
    }

    /// A conversation of a server.
    pub fn conversation(id: impl Into<ConversationId>) -> Self {
        Self::new(NewOwner::Server(Continuation::Conversation { id: id.into() }))
    }

    /// Responses of a server, each of which continues the one before. This run begins the chain.
    pub fn chain() -> Self {
        Self::new(NewOwner::Server(Continuation::Chain { previous_response_id: None }))
    }

    /// Responses of a server, after this one.
    pub fn chain_after(response: impl Into<ResponseId>) -> Self {
        let previous_response_id = Some(response.into());
        Self::new(NewOwner::Server(Continuation::Chain { previous_response_id }))
    }

    pub(crate) fn new(owner: NewOwner) -> Self {
        Self { owner, sessions: None, unsent: Vec::new(), last: None }
    }

    /// Gives the model only the last `items` of the history, and the input of the run. The stored
    /// history does not change.
    ///
    /// A call and its output stay together: if the cut separates them, both are left out. A server
    /// that owns the state gives the model all of its items, so this has no effect there.
    #[must_use]
    pub fn last(self, items: usize) -> Self {
        Self { last: Some(items), ..self }
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("State").field(&self.owner).finish()
    }
}

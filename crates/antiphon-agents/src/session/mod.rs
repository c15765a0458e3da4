//! Sessions: the history of a conversation in the application's own store.

mod batch;
pub mod conformance;
mod conversation;
mod log;
mod memory;
mod random;
mod sealed;
mod store;

use std::time::Duration;

use antiphon::Item;
use antiphon::item::CallKey;
use async_trait::async_trait;

pub use conversation::ConversationSessions;
pub use memory::MemorySessions;
pub use sealed::SealedSessions;
pub use store::StoreSessions;

/// The content of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionContent {
    /// The items, in order.
    pub items: Vec<Item>,
    /// The calls whose tools were started.
    pub started: Vec<CallKey>,
}

/// The reason why a session cannot be read or changed. Nothing changed, except perhaps after
/// [`TimedOut`](Self::TimedOut).
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The store cannot be reached, or it failed.
    #[error("the session store failed: {0}")]
    Unavailable(String),
    /// The session has data that is not an item.
    #[error("the session '{key}' is damaged: {reason}")]
    Damaged {
        /// The key of the session.
        key: String,
        /// The reason.
        reason: String,
    },
    /// The store did not answer in time. A write may happen later, or not.
    #[error("the session store did not answer within {0:?}")]
    TimedOut(Duration),
    /// The beginning of the session is not the one that was to be replaced.
    #[error("the session '{0}' has changed since it was read")]
    Changed(String),
}

debug_as_text!(SessionError);

/// Stores sessions by their key.
///
/// Each call is atomic and durable: when it returns `Ok`, all of it survives a crash of the
/// process; when it fails, nothing changed. Calls for one session run in some order.
/// [`conformance`] tests an implementation.
#[async_trait]
pub trait SessionStore: Send + Sync + 'static {
    /// The content of a session. A session that was never written is empty.
    async fn load(&self, key: &str) -> Result<SessionContent, SessionError>;

    /// Appends items, and marks these calls as started.
    async fn append(
        &self,
        key: &str,
        items: &[Item],
        started: &[CallKey],
    ) -> Result<(), SessionError>;

    /// Replaces the first `old` items by `new` ones. Items that were appended meanwhile stay after
    /// them. Fails with [`SessionError::Changed`] if the session has fewer than `old` items.
    async fn replace(&self, key: &str, old: usize, new: &[Item]) -> Result<(), SessionError>;

    /// Removes the last items if they are exactly these; returns whether it did.
    async fn pop(&self, key: &str, tail: &[Item]) -> Result<bool, SessionError>;

    /// Removes all items of a session.
    async fn clear(&self, key: &str) -> Result<(), SessionError>;

    /// Stores the state of a run as JSON, or removes it. It is found by the same key.
    async fn save_run(&self, key: &str, state: Option<&str>) -> Result<(), SessionError>;

    /// The stored state of a run.
    async fn run(&self, key: &str) -> Result<Option<String>, SessionError>;
}

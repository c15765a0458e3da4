//! Why a store could not do what it was asked.

use antiphon::ItemId;

/// An error of a store, told by whose it is: the first three are the caller's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The thread already holds a live item of this id.
    #[error("an item with id {0} is already held")]
    DuplicateItem(ItemId),
    /// The conversation does not exist, or no longer.
    #[error("the conversation does not exist")]
    ConversationNotFound,
    /// `after` names no item of the listing.
    #[error("no item with id {0} in this list")]
    CursorNotFound(String),
    /// Another process has taken the conversation over, or has settled the turn, because this one was
    /// not heard of for too long.
    #[error("another process took the turn over")]
    LeaseLost,
    /// The tenant's data was erased since the turn began.
    #[error("the tenant's data was erased meanwhile")]
    Erased,
    /// The database failed: a locked or damaged file, a lost connection.
    #[error("the store failed: {0}")]
    Unavailable(String),
    /// The database could not grow: the disk or a quota is full.
    #[error("the store cannot write to its disk, which may be full: {0}")]
    NoSpace(String),
}

impl StoreError {
    /// Whether the database failed, rather than refused what was asked: the same may succeed later.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::NoSpace(_))
    }

    /// The tables of `database` have a version that only a newer release knows.
    pub(crate) fn newer_schema(database: &str, found: i32, known: usize) -> Self {
        Self::Unavailable(format!(
            "{database} was written by a newer version of Antiphon (version {found} of its tables; \
             this one, {}, knows {known}). Start the release that wrote it, or restore a backup that \
             was made before the upgrade",
            env!("CARGO_PKG_VERSION"),
        ))
    }

    /// A background turn that leaves no record: nobody could ever learn of its end.
    pub(crate) fn no_response() -> Self {
        Self::Unavailable("a background turn has a response".into())
    }
}

//! Errors of a store.

use antiphon::ItemId;

/// An error of a store. The first three variants are faults of the caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The thread already has a live item with this id.
    #[error("the thread already has an item with id {0}")]
    DuplicateItem(ItemId),
    /// The conversation does not exist, or was deleted.
    #[error("the conversation does not exist")]
    ConversationNotFound,
    /// `after` names no item of the list.
    #[error("no item with id {0} in this list")]
    CursorNotFound(String),
    /// Another process has taken over the conversation or settled the turn, because this process
    /// did not report in time that it is alive.
    #[error("another process took over the turn")]
    LeaseLost,
    /// The tenant's data was erased since the turn began.
    #[error("the tenant's data was erased meanwhile")]
    Erased,
    /// The store has something else in the place of a restored object.
    #[error("{0}")]
    Conflict(String),
    /// A restored object does not fit in the tenant's quota of these, `items` or `bytes`.
    #[error("the quota of {0} is exceeded")]
    QuotaExceeded(&'static str),
    /// The items of a restored object ended early.
    #[error("the restoration was cancelled")]
    RestoreCancelled,
    /// The database failed: a locked or damaged file, a lost connection.
    #[error("the store failed: {0}")]
    Unavailable(String),
    /// The database could not grow: the disk or a quota is full.
    #[error("the store cannot write to its disk, which may be full: {0}")]
    NoSpace(String),
}

impl StoreError {
    /// Whether the database failed, as opposed to rejecting the call. The same call may succeed
    /// later.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::NoSpace(_))
    }

    /// The tables of `database` have a version that only a newer release knows.
    pub(crate) fn newer_schema(database: &str, found: i32, known: usize) -> Self {
        Self::Unavailable(format!(
            "{database} was written by a newer version of Antiphon (version {found} of its tables; \
             this one, {}, knows {known}). Start the release that wrote it, or restore a backup \
             from before the upgrade",
            env!("CARGO_PKG_VERSION"),
        ))
    }

    /// The error for a background turn without a record: no client could learn its result.
    pub(crate) fn no_response() -> Self {
        Self::Unavailable("a background turn must have a response".into())
    }
}

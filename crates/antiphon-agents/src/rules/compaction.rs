//! The items that a compaction replaces.

use antiphon::item::{Item, Kind, Role};

/// The number of candidates from which a compaction is worthwhile.
pub(crate) const MIN_CANDIDATES: usize = 10;

/// The number of items that a compaction would replace: all except user messages and earlier
/// compactions.
pub(crate) fn candidates(history: &[Item]) -> usize {
    let stays =
        |item: &&Item| item.head().role == Some(Role::User) || item.head().kind == Kind::Compaction;
    history.len() - history.iter().filter(stays).count()
}

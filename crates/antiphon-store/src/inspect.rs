//! The state of a store before a start.

use crate::snapshot::Snapshot;

/// The state of the store that a URL names.
pub enum StoreState {
    /// Nothing yet. The first gateway that starts on it creates the tables.
    Absent,
    /// Tables of an earlier release. The next gateway that starts on it brings them up to date.
    Outdated,
    /// Tables of this release, and a snapshot of them.
    Current(Box<dyn Snapshot>),
}

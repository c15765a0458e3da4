//! Finds out what a gateway would find at a store's URL.

use crate::snapshot::Snapshot;

/// What is at a store's URL.
pub enum StoreState {
    /// Nothing yet. The first gateway that starts on it creates the tables.
    Absent,
    /// Tables of an earlier release. The next gateway that starts on it brings them up to date.
    Outdated,
    /// Tables of this release, and a snapshot of them.
    Current(Box<dyn Snapshot>),
}

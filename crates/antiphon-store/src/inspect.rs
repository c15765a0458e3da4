//! The state of a store before a gateway starts.

use crate::snapshot::Snapshot;

/// The state of the store that a URL names.
pub enum StoreState {
    /// No tables yet. The first gateway that starts on it creates them.
    Absent,
    /// Tables of an earlier release. The next gateway that starts on it migrates them.
    Outdated,
    /// Tables of this release, and a snapshot of them.
    Current(Box<dyn Snapshot>),
}

//! Ids of items whose real ids are not known yet.

use crate::item::ItemId;

/// Local ids for items whose ids the server has not returned yet. They contain a space, so they
/// never equal an id of a server.
#[derive(Debug)]
pub(super) struct LocalIds {
    stamp: u64,
    issued: usize,
}

impl LocalIds {
    /// Creates ids with this prefix, which has to be unique.
    pub(super) fn new(stamp: u64) -> Self {
        Self { stamp, issued: 0 }
    }

    pub(super) fn issue(&mut self) -> ItemId {
        self.issued += 1;
        ItemId::from(format!("{} {}", self.stamp, self.issued))
    }
}

//! Ids of items to which the server gave none, or none yet.

use crate::item::{FingerprintKey, IdSource, ItemId};

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

    /// Ids for the items of the turn's answer.
    pub(super) fn of_answer(&self, key: FingerprintKey) -> KeyedIds {
        KeyedIds { key, stamp: self.stamp, issued: 0 }
    }
}

/// Ids for the items of one answer to which the server gave none. The client gets them, so they
/// have the form of a server's ids. With the key of another client they differ.
pub(super) struct KeyedIds {
    key: FingerprintKey,
    stamp: u64,
    issued: u64,
}

impl IdSource for KeyedIds {
    fn fill(&mut self, bytes: &mut [u8]) {
        for part in bytes.chunks_mut(16) {
            self.issued += 1;
            let name = format!("id {} {}", self.stamp, self.issued);
            part.copy_from_slice(&self.key.digest(name.as_bytes()).to_be_bytes()[..part.len()]);
        }
    }
}

//! Shared lists of the items that a server has, without their bytes.

use std::collections::HashSet;
use std::sync::Arc;

use crate::item::ItemId;
use crate::transcript::{HeldItem, Transcript};

/// An immutable list of items, stored as pieces that each continue another piece.
///
/// Histories that continue the same history share it: a chain of `n` responses, or a fork, needs
/// the memory of each item once. It has the heads and fingerprints of items, never their bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct History(Option<Arc<Piece>>);

#[derive(Debug)]
struct Piece {
    before: History,
    items: Vec<HeldItem>,
    /// The number of items, including those of the pieces before.
    length: usize,
}

impl History {
    /// The same history with more items at the end.
    pub(super) fn with(&self, items: impl IntoIterator<Item = HeldItem>) -> Self {
        let items: Vec<HeldItem> = items.into_iter().map(HeldItem::without_body).collect();
        if items.is_empty() {
            return self.clone();
        }
        let length = self.length() + items.len();
        Self(Some(Arc::new(Piece { before: self.clone(), items, length })))
    }

    /// All items.
    pub(super) fn transcript(&self) -> Transcript {
        self.pieces().into_iter().flat_map(|piece| piece.items.iter().cloned()).collect()
    }

    /// The number of items.
    pub(super) fn length(&self) -> usize {
        self.0.as_ref().map_or(0, |piece| piece.length)
    }

    /// The number of items in the latest piece: its memory beyond the history that it continues.
    pub(super) fn weight(&self) -> usize {
        self.0.as_ref().map_or(0, |piece| piece.items.len())
    }

    /// The history after this item was deleted.
    pub(super) fn with_erased(&self, item: &ItemId) -> Self {
        Self::from(self.transcript().with_erased(&HashSet::from([item.clone()])))
    }

    /// The history without these items.
    pub(super) fn without(&self, ids: &HashSet<ItemId>) -> Self {
        Self::from(self.transcript().without(ids))
    }

    fn pieces(&self) -> Vec<&Piece> {
        let mut pieces: Vec<&Piece> = Vec::new();
        let mut next = self.0.as_deref();
        while let Some(piece) = next {
            pieces.push(piece);
            next = piece.before.0.as_deref();
        }
        pieces.reverse();
        pieces
    }
}

impl From<Transcript> for History {
    fn from(items: Transcript) -> Self {
        Self::default().with(items)
    }
}

/// Drops piece by piece: recursion over a long chain would overflow the stack.
impl Drop for Piece {
    fn drop(&mut self) {
        let mut next = self.before.0.take();
        while let Some(mut piece) = next.and_then(Arc::into_inner) {
            next = piece.before.0.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::given::user;
    use crate::item::{FingerprintKey, ItemId};

    fn held(number: usize) -> HeldItem {
        let key = FingerprintKey::new([0; 16]);
        HeldItem::new(ItemId::from(number.to_string()), &user("hi"), key, None)
    }

    fn ids(history: &History) -> Vec<String> {
        history.transcript().items().iter().map(|item| item.id.to_string()).collect()
    }

    #[test]
    fn histories_share_their_beginning() {
        let begun = History::default().with([held(1), held(2)]);
        let (one, other) = (begun.with([held(3)]), begun.with([held(4)]));
        assert_eq!(ids(&one), ["1", "2", "3"]);
        assert_eq!(ids(&other), ["1", "2", "4"]);
        assert_eq!((one.weight(), one.length()), (1, 3));
        assert!(one.transcript().items().iter().all(|item| item.body.bytes().is_none()));
    }

    #[test]
    fn long_chain_is_dropped_without_recursion() {
        let mut history = History::default();
        for number in 0..200_000 {
            history = history.with([held(number)]);
        }
        drop(history);
    }
}

//! The items of a conversation, as its state owner stores them.
//!
//! ```
//! use antiphon::{FingerprintKey, HeldItem, Item, Transcript};
//!
//! let key = FingerprintKey::new([0; 16]);
//! let item = Item::parse(r#"{"role":"user","content":"Hello"}"#.into()).unwrap();
//! let stored = HeldItem::new("msg_1".into(), &item, key, None);
//! let transcript: Transcript = [stored].into_iter().collect();
//! assert_eq!(transcript.position(&"msg_1".into()), Some(0));
//! ```

mod held;
mod messages;
#[cfg(test)]
mod tests;
mod view;

use std::collections::{HashMap, HashSet};

use bytes::Bytes;

pub use held::{Body, HeldItem, Origin};
pub(crate) use messages::{Messages, StoredMessages};

pub use crate::item::Exchange;
use crate::item::{CallKey, Exchanges, ItemId, Kind};

/// The stored items in order, indexed by item id and by call.
///
/// Positions are indexes into [`Transcript::items`]. They never change, since a transcript only
/// grows.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    items: Vec<HeldItem>,
    by_id: HashMap<ItemId, usize>,
    by_call: Exchanges,
    messages: StoredMessages,
    compactions: Vec<usize>,
    /// The bytes of all items.
    length: usize,
}

impl Transcript {
    /// All items in order, tombstones included.
    pub fn items(&self) -> &[HeldItem] {
        &self.items
    }

    /// The position of the item with this id. A live copy hides a tombstone.
    pub fn position(&self, id: &ItemId) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// The calls and outputs with this key.
    pub fn exchange(&self, key: &CallKey) -> Option<&Exchange> {
        self.by_call.get(key)
    }

    /// The messages of user and assistant.
    pub(crate) fn messages(&self) -> &StoredMessages {
        &self.messages
    }

    /// The positions of the compactions, deleted ones included.
    pub fn compactions(&self) -> &[usize] {
        &self.compactions
    }

    /// The number of bytes of its items that are here.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Copies the bytes of the items from this position on, so that they share no memory with the
    /// request or the answer that brought them.
    pub fn detach(&mut self, from: usize) {
        for item in &mut self.items[from..] {
            if let Body::Stored(bytes) = &mut item.body {
                *bytes = Bytes::copy_from_slice(bytes);
            }
        }
    }

    /// Appends an item. A deleted placeholder output was replaced by the real output, so it answers
    /// no call.
    pub fn push(&mut self, item: HeldItem) {
        let position = self.items.len();
        let held = self.by_id.get(&item.id);
        if held.is_none_or(|at| self.items[*at].is_tombstone()) {
            self.by_id.insert(item.id.clone(), position);
        }
        if !(item.is_placeholder() && item.is_tombstone()) {
            self.by_call.push(position, &item.head);
        }
        if item.head.kind == Kind::Compaction {
            self.compactions.push(position);
        }
        self.messages.push(position, &item);
        self.length += item.length();
        // Many requests have one item, and the first growth of a vector has room for four.
        if self.items.is_empty() {
            self.items.reserve_exact(1);
        }
        self.items.push(item);
    }

    /// The transcript after these items were deleted.
    #[must_use]
    pub(crate) fn with_erased(self, ids: &HashSet<ItemId>) -> Self {
        let erase = |item: HeldItem| match ids.contains(&item.id) {
            true => HeldItem { body: Body::Erased, ..item },
            false => item,
        };
        self.into_iter().map(erase).collect()
    }

    /// The transcript without these items.
    #[must_use]
    pub(crate) fn without(self, ids: &HashSet<ItemId>) -> Self {
        self.into_iter().filter(|item| !ids.contains(&item.id)).collect()
    }
}

impl IntoIterator for Transcript {
    type Item = HeldItem;
    type IntoIter = std::vec::IntoIter<HeldItem>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl FromIterator<HeldItem> for Transcript {
    fn from_iter<T: IntoIterator<Item = HeldItem>>(items: T) -> Self {
        let mut transcript = Self::default();
        transcript.extend(items);
        transcript
    }
}

impl Extend<HeldItem> for Transcript {
    fn extend<T: IntoIterator<Item = HeldItem>>(&mut self, items: T) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

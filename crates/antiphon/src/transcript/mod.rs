//! What a state owner holds of a conversation.

mod held;
#[cfg(test)]
mod tests;
mod view;

use std::collections::HashMap;

pub use held::{Body, HeldItem, Origin};

pub use crate::item::Exchange;
use crate::item::{CallKey, Exchanges, ItemId};

/// The ordered items that the owner holds, indexed by item id and by call.
///
/// Positions are indexes into [`Transcript::items`]; they never change, since a transcript only
/// grows.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    items: Vec<HeldItem>,
    by_id: HashMap<ItemId, usize>,
    by_call: Exchanges,
}

impl Transcript {
    /// All items in order, tombstones included.
    pub fn items(&self) -> &[HeldItem] {
        &self.items
    }

    /// Where the item of this id is held. A live copy hides a tombstone.
    pub fn position(&self, id: &ItemId) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// The calls and outputs under a key.
    pub fn exchange(&self, key: &CallKey) -> Option<&Exchange> {
        self.by_call.get(key)
    }

    /// Appends an item. A made-up output that was deleted gave way to the real one, and answers
    /// nothing.
    pub fn push(&mut self, item: HeldItem) {
        let position = self.items.len();
        let held = self.by_id.get(&item.id);
        if held.is_none_or(|at| self.items[*at].is_tombstone()) {
            self.by_id.insert(item.id.clone(), position);
        }
        if !(item.is_made_up() && item.is_tombstone()) {
            self.by_call.push(position, &item.head);
        }
        self.items.push(item);
    }
}

impl FromIterator<HeldItem> for Transcript {
    fn from_iter<T: IntoIterator<Item = HeldItem>>(items: T) -> Self {
        let mut transcript = Self::default();
        items.into_iter().for_each(|item| transcript.push(item));
        transcript
    }
}

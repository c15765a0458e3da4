//! What a state owner holds of a conversation.

mod held;

use std::collections::HashMap;

pub use held::{HeldItem, Origin};

use crate::item::{CallKey, ItemId, Role, Side};

/// The ordered items that the owner holds, indexed by item id and by call.
///
/// Positions are indexes into [`Transcript::items`]; they never change, since a transcript only
/// grows.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    items: Vec<HeldItem>,
    by_id: HashMap<ItemId, usize>,
    by_call: HashMap<CallKey, Exchange>,
}

/// The calls and outputs that share one key, as positions in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// Where it was called.
    pub calls: Vec<usize>,
    /// Where it was answered.
    pub outputs: Vec<usize>,
}

impl Exchange {
    /// How many calls wait for their output.
    pub fn pending(&self) -> usize {
        self.calls.len().saturating_sub(self.outputs.len())
    }
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

    /// Appends an item.
    pub fn push(&mut self, item: HeldItem) {
        let position = self.items.len();
        let held = self.by_id.get(&item.id);
        if held.is_none_or(|at| self.items[*at].is_tombstone()) {
            self.by_id.insert(item.id.clone(), position);
        }
        if let Some((side, key)) = item.head.pairing() {
            let exchange = self.by_call.entry(key).or_default();
            match side {
                Side::Call => exchange.calls.push(position),
                Side::Output => exchange.outputs.push(position),
            }
        }
        self.items.push(item);
    }

    /// The positions of the live items in the order in which a model gets them: as held, except
    /// that instructions which superseded earlier ones stand in their place.
    pub fn view(&self) -> Vec<usize> {
        let mut view: Vec<usize> = Vec::with_capacity(self.items.len());
        let mut slots: HashMap<Role, Vec<usize>> = HashMap::new();
        for (position, item) in self
            .items
            .iter()
            .enumerate()
            .filter(|(_, i)| !i.is_tombstone())
        {
            let role = item.head.role.filter(|role| role.instructs());
            let slot = role.and_then(|role| slots.get(&role)?.last().copied());
            match slot.filter(|_| item.supersedes) {
                Some(slot) => view[slot] = position,
                None => {
                    role.inspect(|role| slots.entry(*role).or_default().push(view.len()));
                    view.push(position);
                }
            }
        }
        view
    }
}

impl FromIterator<HeldItem> for Transcript {
    fn from_iter<T: IntoIterator<Item = HeldItem>>(items: T) -> Self {
        let mut transcript = Self::default();
        items.into_iter().for_each(|item| transcript.push(item));
        transcript
    }
}

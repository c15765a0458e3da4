//! Repairs a turn for a server that has the items before it.

use std::collections::{HashMap, HashSet};

use super::BlockingItems;
use crate::item::{Item, ItemId, Kind};
use crate::placeholder::is_placeholder_item;
use crate::repair::{
    Action, OnOutputWithoutCall, Policy, Repair, Repaired, blocking_items, made_with, repair_after,
};
use crate::transcript::{HeldItem, Transcript};

/// Outlines of a server's items and of the new input after them, as repairs read them.
#[derive(Debug)]
pub struct Draft {
    items: Vec<Item>,
    /// The position in the transcript of each item.
    places: Vec<usize>,
    /// The number of items at the start that the server has.
    at_server: usize,
    /// The number of stored items in the transcript. New items of the input come after them.
    stored: usize,
    /// For each item the reasoning that the model produced it with.
    reasoning: HashMap<ItemId, ItemId>,
}

impl Draft {
    /// A draft for a server that has the first `stored` items of the transcript. `reasoning` has
    /// the reasoning of the input's items; the order of the server's items decides for those.
    pub fn new(
        transcript: &Transcript,
        stored: usize,
        mut reasoning: HashMap<ItemId, ItemId>,
    ) -> Self {
        let mut places = transcript.view();
        places.retain(|at| *at < stored);
        places.sort_unstable();
        let at_server = places.len();
        places.extend(stored..transcript.items().len());
        let outline =
            |at: &usize| transcript.items()[*at].outline().expect("a view has no deleted items");
        let items = places.iter().map(outline).collect();
        reasoning.extend(made_with(transcript.items().iter().map(|it| (&it.head, Some(&it.id)))));
        Self { items, places, at_server, stored, reasoning }
    }

    /// The draft for a server that has lost its items, so that all of them are sent. Also returns
    /// the items that cannot be sent: the server has deleted the content of reasoning that is not
    /// encrypted. Items that need it are sent without their ids.
    #[must_use]
    pub fn into_replay(self) -> (Self, Vec<Item>) {
        let Self { items, places, at_server, .. } = self;
        let is_lost = |(nth, (_, item)): &(usize, (usize, Item))| {
            *nth < at_server && item.head().kind == Kind::Reasoning && !item.head().encrypted
        };
        let placed = places.into_iter().zip(items).enumerate();
        let (lost, kept): (Vec<_>, Vec<_>) = placed.partition(is_lost);
        let (places, items) = kept.into_iter().map(|(_, placed)| placed).unzip();
        let lost = lost.into_iter().map(|(_, (_, item))| item).collect();
        (Self { items, places, at_server: 0, ..self }, lost)
    }

    /// The number of stored items.
    pub fn stored_items(&self) -> usize {
        self.places.iter().filter(|at| **at < self.stored).count()
    }

    /// The items that block every turn until they are deleted. `late` has the late outputs: the
    /// position in the input, and the position of the placeholder in the transcript.
    pub fn blocking(&self, transcript: &Transcript, late: &[(usize, usize)]) -> BlockingItems {
        let stored = |at: usize| transcript.items()[at].clone();
        let unrepairable = blocking_items(self.at_server, &self.items).into_iter();
        let unrepairable =
            unrepairable.map(|found| (stored(self.places[found.position]), found.fault.name()));
        BlockingItems::new(unrepairable.collect(), transcript, late)
    }

    /// Repairs the items that the server does not have.
    pub fn repair(&self, outputs_without_call: OnOutputWithoutCall) -> Repaired {
        let made_with = self.reasoning.clone();
        let policy = Policy { outputs_without_call, made_with, ..Policy::default() };
        repair_after(self.at_server, &self.items, &policy)
    }

    /// The repaired item, and its position in the input; `None` for a stored item. `sources` has
    /// the positions in the input of the new items.
    pub fn source(&self, repair: &Repair, sources: &[usize]) -> (Option<usize>, &Item) {
        let new = self.places[repair.position].checked_sub(self.stored);
        (new.and_then(|new| sources.get(new).copied()), &self.items[repair.position])
    }

    /// The sent items that are not stored yet, in their stored form: new input, and placeholders,
    /// which `placeholder` creates.
    pub fn new_items(
        &self,
        repaired: &Repaired,
        transcript: &Transcript,
        mut placeholder: impl FnMut(&Item) -> HeldItem,
    ) -> Vec<HeldItem> {
        let is_dropped =
            |repair: &&Repair| matches!(repair.action, Action::Dropped | Action::Replaced);
        let dropped: HashSet<usize> =
            repaired.repairs.iter().filter(is_dropped).map(|repair| repair.position).collect();
        let mut sent = (self.at_server..self.items.len()).filter(|nth| !dropped.contains(nth));
        let mut sent = sent.by_ref().peekable();
        let mut new = Vec::new();
        for item in &repaired.items {
            // A placeholder is either new, or an item of the input.
            let nth = match is_placeholder_item(item) {
                true => sent.next_if(|nth| self.items[*nth].raw() == item.raw()),
                false => sent.next(),
            };
            match nth.map(|nth| self.places[nth]) {
                Some(at) if at < self.stored => {}
                Some(at) => {
                    let held = transcript.items()[at].clone();
                    new.push(HeldItem { head: item.head().clone(), ..held });
                }
                None => new.push(placeholder(item)),
            }
        }
        new
    }
}

//! The first rule: the same item id. A compaction is known by its content too.

use std::collections::HashMap;

use crate::item::{Fingerprint, FingerprintKey, Item, ItemId, Kind};
use crate::transcript::{HeldItem, Transcript};

/// What the id of an incoming item tells.
pub(super) enum ById {
    /// It is the item held at `place`.
    Held { place: usize, differs: bool },
    /// It is the item at this earlier position of the input, as far as its id and text tell.
    Repeats(usize),
    /// Its id is used for something else.
    Used,
    /// Nothing: it has no id, or a new one.
    Unknown,
}

/// Knows items by the ids that the transcript, or the input before them, holds already.
pub(super) struct Identity<'a> {
    transcript: &'a Transcript,
    incoming: &'a [Item],
    key: FingerprintKey,
    /// Ids that the input has used, with the position of their first use.
    used: HashMap<&'a ItemId, usize>,
}

impl<'a> Identity<'a> {
    pub(super) fn new(
        transcript: &'a Transcript,
        incoming: &'a [Item],
        key: FingerprintKey,
    ) -> Self {
        Self { transcript, incoming, key, used: HashMap::new() }
    }

    /// What the id of the item at `position` tells. To be asked in order.
    pub(super) fn of(&mut self, position: usize) -> ById {
        let item = &self.incoming[position];
        let Some(id) = &item.head().id else {
            return self.of_content(item);
        };
        if let Some(place) = self.transcript.position(id) {
            return self.under_held_id(item, place);
        }
        let first = *self.used.entry(id).or_insert(position);
        if first == position {
            ById::Unknown
        } else if item.is_copy_of(&self.incoming[first]) {
            ById::Repeats(first)
        } else {
            ById::Used
        }
    }

    /// Clients may leave the id of a compaction out. Its encrypted content is nobody else's.
    fn of_content(&self, item: &Item) -> ById {
        if item.head().kind != Kind::Compaction || !item.head().encrypted {
            return ById::Unknown;
        }
        let mut held = self.transcript.items().iter();
        let place = held.position(|held| {
            let is_one = held.head.kind == Kind::Compaction && held.head.encrypted;
            is_one && held.item().is_some_and(|held| held.says_the_same_as(item))
        });
        place.map_or(ById::Unknown, |place| ById::Held { place, differs: false })
    }

    /// The held version counts, except where a caller says something new under an old id.
    fn under_held_id(&self, item: &Item, place: usize) -> ById {
        let holder = &self.transcript.items()[place];
        if item.head().kind == Kind::ItemReference {
            let differs = false;
            return ById::Held { place, differs };
        }
        let differs = self.differs(holder, item);
        let is_new_message = differs && item.is_callers_message();
        if is_new_message || !is_same_part(holder, item) {
            return ById::Used;
        }
        ById::Held { place, differs }
    }

    fn differs(&self, holder: &HeldItem, item: &Item) -> bool {
        if holder.is_tombstone() || holder.is_byte_for_byte(item) {
            return false;
        }
        match Fingerprint::of(self.key, item) {
            Some(says) => holder.fingerprint != Some(says),
            None => holder.item().is_some_and(|held| !held.says_the_same_as(item)),
        }
    }
}

/// Whether the item has the part in the conversation that the held one has: its kind, and its call.
/// The id of encrypted content is bound to it, so it is never taken for another's.
fn is_same_part(holder: &HeldItem, item: &Item) -> bool {
    let (one, two) = (&holder.head, item.head());
    two.encrypted || one.kind == two.kind && one.call_id == two.call_id
}

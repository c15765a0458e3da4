//! Which ids output items go by.

use std::collections::HashSet;

use super::Note;
use crate::faults::{Fault, MAX_ID_LENGTH};
use crate::item::{CallId, CallKey, IdSource, Item, ItemId, Kind, Side};
use crate::transcript::Transcript;

/// The ids that a conversation holds already. A new item may not take one of them.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    items: HashSet<ItemId>,
    calls: HashSet<CallKey>,
    names: Names,
}

/// Whose ids count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Names {
    /// Items go back to providers, which refuse ids that are malformed or stand twice.
    #[default]
    Ours,
    /// The upstream keeps the items, and knows them by its own ids alone.
    Upstreams,
}

impl Taken {
    /// The ids of a transcript.
    pub fn of(transcript: &Transcript) -> Self {
        let items = transcript.items();
        Self {
            items: items.iter().map(|item| item.id.clone()).collect(),
            calls: items.iter().filter_map(|item| call_key(&item.head)).collect(),
            names: Names::Ours,
        }
    }

    /// The item ids of a transcript that its upstream keeps. Ids are then the upstream's word, in
    /// whatever form: outputs go to it under the ids of its calls, even where it gives one to two
    /// calls. Replaced is only what is empty, and an item's id that another item has.
    pub fn items_of(transcript: &Transcript) -> Self {
        Self { calls: HashSet::new(), names: Names::Upstreams, ..Self::of(transcript) }
    }
}

/// Gives every item its id and every call its `call_id`.
pub(super) struct Identity {
    taken: Taken,
    ids: Box<dyn IdSource + Send>,
    /// Whether the upstream's dialect gives items ids: then one without is noted.
    pub(super) expects_ids: bool,
    pub(super) notes: Vec<Note>,
}

impl Identity {
    pub(super) fn new(taken: Taken, ids: Box<dyn IdSource + Send>) -> Self {
        Self { taken, ids, expects_ids: true, notes: Vec::new() }
    }

    /// The id for a new item, and its `call_id` where that had to change.
    pub(super) fn assign(&mut self, item: &Item) -> (ItemId, Option<CallId>) {
        (self.item_id(item), self.call_id(item))
    }

    /// The upstream called an item otherwise than when it announced it.
    pub(super) fn note_other_id(&mut self, item: &Item, to: ItemId) {
        if let Some(from) = item.head().id.clone() {
            let from = Some(from);
            self.notes.push(Note::ItemIdReplaced { from, to });
        }
    }

    fn item_id(&mut self, item: &Item) -> ItemId {
        let own = item.head().id.as_ref();
        if let Some(id) = own.filter(|id| self.passes(item, id)) {
            self.taken.items.insert(id.clone());
            return id.clone();
        }
        let id = ItemId::from(self.ids.issue(item.head().kind.id_prefix()));
        self.taken.items.insert(id.clone());
        if own.is_some() || self.expects_ids {
            self.notes.push(Note::ItemIdReplaced { from: own.cloned(), to: id.clone() });
        }
        id
    }

    fn passes(&self, item: &Item, id: &ItemId) -> bool {
        let is_upstreams = self.taken.names == Names::Upstreams;
        (is_upstreams || well_formed(item, id)) && !self.taken.items.contains(id)
    }

    fn call_id(&mut self, item: &Item) -> Option<CallId> {
        let key = call_key(item.head())?;
        if item.head().kind == Kind::McpApprovalRequest {
            return None;
        }
        let length = key.call_id.as_str().chars().count();
        if self.taken.names == Names::Upstreams && length > 0 {
            return None;
        }
        if (1..=MAX_ID_LENGTH).contains(&length) && !self.taken.calls.contains(&key) {
            self.taken.calls.insert(key);
            return None;
        }
        let call_id = self.ids.issue_call_id();
        self.notes.push(Note::CallIdReplaced { from: key.call_id, to: call_id.clone() });
        self.taken.calls.insert(CallKey { kind: key.kind, call_id: call_id.clone() });
        Some(call_id)
    }
}

/// Whether the id has the form that providers take. Encrypted content is bound to its id, and
/// reasoning may come to carry some, so theirs is never replaced for its form.
fn well_formed(item: &Item, id: &ItemId) -> bool {
    let head = item.head();
    if head.encrypted || head.kind == Kind::Reasoning {
        return true;
    }
    Fault::of_form(&head.kind, id).is_none()
}

fn call_key(head: &crate::Head) -> Option<CallKey> {
    head.pairing().filter(|(side, _)| *side == Side::Call).map(|(_, key)| key)
}

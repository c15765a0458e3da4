//! The ids of output items.

use std::collections::HashSet;
use std::sync::Arc;

use super::note::{Note, Notes};
use crate::faults::{Fault, MAX_ID_LENGTH};
use crate::item::{CallId, CallIdField, CallKey, Exchange, IdSource, Item, ItemId, Kind, Side};
use crate::transcript::Transcript;

/// The ids that a conversation already uses. A new item must not take one of them.
#[derive(Clone, Debug, Default)]
pub struct UsedIds {
    /// The transcript whose ids are used.
    held: Arc<Transcript>,
    /// Further ids.
    items: HashSet<ItemId>,
    calls: HashSet<CallKey>,
    owner: IdOwner,
}

/// The side that decides about ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum IdOwner {
    /// The gateway replays the items to providers, which reject malformed and duplicate ids.
    #[default]
    Gateway,
    /// The upstream stores the items and knows them by its own ids only.
    Upstream,
}

impl UsedIds {
    /// Collects the ids of a transcript.
    pub fn from_transcript(transcript: &Transcript) -> Self {
        let items = transcript.items();
        Self {
            items: items.iter().map(|item| item.id.clone()).collect(),
            calls: items.iter().filter_map(|item| call_key(&item.head)).collect(),
            ..Self::default()
        }
    }

    /// The ids of a transcript, without collecting them.
    pub fn from_shared(transcript: Arc<Transcript>) -> Self {
        Self { held: transcript, ..Self::default() }
    }

    /// Collects the item ids of a transcript that the upstream stores.
    ///
    /// Such an upstream's ids are valid in any form. Outputs go to it with its own `call_id`s, even
    /// if it gives one to two calls. Only an empty id, and an item id that another item has, are
    /// replaced.
    pub fn item_ids_only(transcript: &Transcript) -> Self {
        Self {
            calls: HashSet::new(),
            owner: IdOwner::Upstream,
            ..Self::from_transcript(transcript)
        }
    }

    fn has_item(&self, id: &ItemId) -> bool {
        self.items.contains(id) || self.held.position(id).is_some()
    }

    fn has_call(&self, key: &CallKey) -> bool {
        let is_call = |exchange: &Exchange| !exchange.calls.is_empty();
        self.calls.contains(key) || self.held.exchange(key).is_some_and(is_call)
    }
}

/// Assigns item ids and `call_id`s.
pub(super) struct Identity {
    taken: UsedIds,
    ids: Box<dyn IdSource + Send>,
    /// Whether the upstream's dialect has item ids. If so, a missing id is noted.
    pub(super) expects_ids: bool,
}

impl Identity {
    pub(super) fn new(taken: UsedIds, ids: Box<dyn IdSource + Send>) -> Self {
        Self { taken, ids, expects_ids: true }
    }

    /// The id of a new item, and a new `call_id` if its own cannot be used.
    pub(super) fn assign(&mut self, item: &Item, notes: &mut Notes) -> (ItemId, Option<CallId>) {
        (self.item_id(item, notes), self.call_id(item, notes))
    }

    fn item_id(&mut self, item: &Item, notes: &mut Notes) -> ItemId {
        let own = item.head().id.as_ref();
        if let Some(id) = own.filter(|id| self.passes(item, id)) {
            self.taken.items.insert(id.clone());
            return id.clone();
        }
        let id = ItemId::from(self.ids.issue(item.head().kind.id_prefix()));
        self.taken.items.insert(id.clone());
        if own.is_some() || self.expects_ids {
            notes.push(Note::ItemIdReplaced { from: own.cloned(), to: id.clone() });
        }
        id
    }

    fn passes(&self, item: &Item, id: &ItemId) -> bool {
        let is_upstreams = self.taken.owner == IdOwner::Upstream;
        (is_upstreams || well_formed(item, id)) && !self.taken.has_item(id)
    }

    fn call_id(&mut self, item: &Item, notes: &mut Notes) -> Option<CallId> {
        let key = call_key(item.head())?;
        if item.head().kind.call_id_field() == CallIdField::Id {
            return None;
        }
        let length = key.call_id.as_str().chars().count();
        if self.taken.owner == IdOwner::Upstream && length > 0 {
            return None;
        }
        if (1..=MAX_ID_LENGTH).contains(&length) && !self.taken.has_call(&key) {
            self.taken.calls.insert(key);
            return None;
        }
        let call_id = self.ids.issue_call_id();
        notes.push(Note::CallIdReplaced { from: key.call_id, to: call_id.clone() });
        self.taken.calls.insert(CallKey { kind: key.kind, call_id: call_id.clone() });
        Some(call_id)
    }
}

/// Whether providers accept the id's form. Encrypted content is bound to its item id, and reasoning
/// may get encrypted content later, so their ids are never replaced because of their form.
fn well_formed(item: &Item, id: &ItemId) -> bool {
    let head = item.head();
    if head.encrypted || head.kind == Kind::Reasoning {
        return true;
    }
    Fault::check_id_form(&head.kind, id).is_none()
}

fn call_key(head: &crate::Head) -> Option<CallKey> {
    head.pairing().filter(|(side, _)| *side == Side::Call).map(|(_, key)| key)
}

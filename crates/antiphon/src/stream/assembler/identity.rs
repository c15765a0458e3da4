//! Which ids output items go by.

use std::collections::{HashMap, HashSet};

use crate::faults::MAX_ID_LENGTH;
use crate::item::{CallId, CallKey, IdSource, Item, ItemId, Kind, Side};
use crate::transcript::Transcript;

/// The ids that a conversation holds already. A new item may not take one of them.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    items: HashSet<ItemId>,
    calls: HashSet<CallKey>,
}

impl Taken {
    /// The ids of a transcript.
    pub fn of(transcript: &Transcript) -> Self {
        let items = transcript.items();
        Self {
            items: items.iter().map(|item| item.id.clone()).collect(),
            calls: items
                .iter()
                .filter_map(|item| call_key(&item.head))
                .collect(),
        }
    }
}

/// What was put right in an upstream's stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// An item id was empty, malformed or taken.
    ItemIdReplaced {
        /// What the upstream called the item.
        from: Option<ItemId>,
        /// What it is called now.
        to: ItemId,
    },
    /// A `call_id` was empty or taken.
    CallIdReplaced {
        /// What the upstream called it.
        from: CallId,
        /// What it is called now.
        to: CallId,
    },
}

/// Gives every item its id, and remembers the upstream's for each.
pub(super) struct Identity {
    taken: Taken,
    ids: Box<dyn IdSource + Send>,
    /// The items by the ids that the upstream gave them.
    positions: HashMap<ItemId, usize>,
    pub(super) notes: Vec<Note>,
}

impl Identity {
    pub(super) fn new(taken: Taken, ids: Box<dyn IdSource + Send>) -> Self {
        Self {
            taken,
            ids,
            positions: HashMap::new(),
            notes: Vec::new(),
        }
    }

    /// Where the item with the upstream's id of this one stands.
    pub(super) fn position(&self, item: &Item) -> Option<usize> {
        self.positions.get(item.head().id.as_ref()?).copied()
    }

    /// The id for a new item at `position`, and its `call_id` where that had to change.
    pub(super) fn assign(&mut self, item: &Item, position: usize) -> (ItemId, Option<CallId>) {
        if let Some(id) = &item.head().id {
            self.positions.entry(id.clone()).or_insert(position);
        }
        (self.item_id(item), self.call_id(item))
    }

    fn item_id(&mut self, item: &Item) -> ItemId {
        let own = item.head().id.as_ref();
        if let Some(id) = own.filter(|id| well_formed(item, id) && !self.taken.items.contains(id)) {
            self.taken.items.insert(id.clone());
            return id.clone();
        }
        let id = ItemId::from(self.ids.issue(item.head().kind.id_prefix()));
        self.taken.items.insert(id.clone());
        self.notes.push(Note::ItemIdReplaced {
            from: own.cloned(),
            to: id.clone(),
        });
        id
    }

    fn call_id(&mut self, item: &Item) -> Option<CallId> {
        let key = call_key(item.head())?;
        if item.head().kind == Kind::McpApprovalRequest {
            return None;
        }
        let is_free = !key.call_id.as_str().is_empty() && !self.taken.calls.contains(&key);
        if is_free {
            self.taken.calls.insert(key);
            return None;
        }
        let call_id = CallId::from(self.ids.issue("call"));
        self.notes.push(Note::CallIdReplaced {
            from: key.call_id,
            to: call_id.clone(),
        });
        self.taken.calls.insert(CallKey {
            kind: key.kind,
            call_id: call_id.clone(),
        });
        Some(call_id)
    }
}

fn well_formed(item: &Item, id: &ItemId) -> bool {
    let fits = match item.head().kind {
        Kind::Message | Kind::Reasoning | Kind::FunctionCall | Kind::CustomToolCall => {
            id.as_str().starts_with(item.head().kind.id_prefix())
        }
        _ => true,
    };
    fits && id.as_str().chars().count() <= MAX_ID_LENGTH
}

fn call_key(head: &crate::Head) -> Option<CallKey> {
    head.pairing()
        .filter(|(side, _)| *side == Side::Call)
        .map(|(_, key)| key)
}

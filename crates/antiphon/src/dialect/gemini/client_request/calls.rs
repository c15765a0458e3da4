//! The ids of function calls and of their responses.
//!
//! Ids are optional in this API: without them, a response belongs to a call by its name and its
//! position. Each call without an id gets one that depends only on the contents before it, so the
//! next request, which resends these contents, has the same ids.

use std::collections::{BTreeSet, HashMap, HashSet};

/// The maximum length of the name in an id. The Responses API takes ids of up to 64 characters.
const NAME: usize = 40;

/// The calls of the contents so far.
#[derive(Default)]
pub(super) struct Calls {
    ids: HashSet<String>,
    /// The number of calls and of responses with each derived id.
    derived: HashMap<String, usize>,
    /// The derived ids of calls.
    derived_ids: BTreeSet<String>,
    /// The calls without a response, in order.
    pending: Vec<Call>,
    /// The number of the model's turn.
    turn: usize,
}

struct Call {
    name: String,
    id: String,
    turn: usize,
    has_own_id: bool,
}

impl Calls {
    /// Begins a turn of the model.
    pub(super) fn begin_turn(&mut self) {
        self.turn += 1;
    }

    /// Adds a call, and returns its id.
    pub(super) fn add(&mut self, name: &str, id: Option<String>) -> String {
        let has_own_id = id.is_some();
        let id = id.unwrap_or_else(|| self.derive("call", name));
        if !has_own_id {
            self.derived_ids.insert(id.clone());
        }
        self.ids.insert(id.clone());
        let (name, turn) = (name.to_owned(), self.turn);
        self.pending.push(Call { name, id: id.clone(), turn, has_own_id });
        id
    }

    /// The id of the call that this response belongs to: the call with this id, or else the first
    /// call with this name that has no response. Calls of the last turn come first. A response of
    /// no call gets an id that no call has.
    pub(super) fn answer(&mut self, name: &str, id: Option<String>) -> String {
        let position = match &id {
            Some(id) if self.ids.contains(id) => {
                self.pending.iter().position(|call| call.id == *id)
            }
            Some(_) => self.find_pending(name, |call| !call.has_own_id),
            None => self.find_pending(name, |_| true),
        };
        match (position, id) {
            (Some(position), _) => self.pending.remove(position).id,
            (None, Some(id)) => id,
            (None, None) => self.derive("response", name),
        }
    }

    /// The ids of the calls that had none.
    pub(super) fn into_derived_ids(self) -> BTreeSet<String> {
        self.derived_ids
    }

    fn find_pending(&self, name: &str, accepts: impl Fn(&Call) -> bool) -> Option<usize> {
        let fits = |call: &Call| call.name == name && accepts(call);
        let of_turn = self.pending.iter().position(|call| call.turn == self.turn && fits(call));
        of_turn.or_else(|| self.pending.iter().position(fits))
    }

    /// The next free id of this kind: `call_NAME_1`, `call_NAME_2` and so on.
    fn derive(&mut self, kind: &str, name: &str) -> String {
        let is_valid = |letter: &char| letter.is_ascii_alphanumeric() || "_-".contains(*letter);
        let name: String = name.chars().filter(is_valid).take(NAME).collect();
        let stem = format!("{kind}_{name}");
        let number = self.derived.entry(stem.clone()).or_default();
        loop {
            *number += 1;
            let id = format!("{stem}_{number}");
            if !self.ids.contains(&id) {
                return id;
            }
        }
    }
}

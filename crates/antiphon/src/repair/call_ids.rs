//! New call ids for calls that cannot keep theirs.

use std::collections::{HashMap, HashSet};

use crate::faults::MAX_ID_LENGTH;
use crate::item::{CallId, CallIdField, CallKey};

/// How many characters of the old id a new one keeps. The rest is for `_` and a number.
const STEM_LENGTH: usize = MAX_ID_LENGTH - 10;

/// The call ids in use. A new one consists of the old one and a number, so that the same history
/// always results in the same bytes.
pub(super) struct CallIds {
    taken: HashSet<CallKey>,
    met: HashSet<CallKey>,
    /// The latest number of each stem.
    numbers: HashMap<CallKey, usize>,
}

impl CallIds {
    pub(super) fn new(keys: impl Iterator<Item = CallKey>) -> Self {
        Self { taken: keys.collect(), met: HashSet::new(), numbers: HashMap::new() }
    }

    /// A new `call_id` for the next call; `None` if it keeps its own.
    pub(super) fn replacement_for(&mut self, key: &CallKey) -> Option<CallId> {
        let is_wellformed = !key.call_id.as_str().is_empty() && !is_overlong(&key.call_id);
        if is_wellformed && self.met.insert(key.clone()) {
            return None;
        }
        let call_id = stem(key);
        let kind = key.kind.clone();
        Some(self.next(&CallKey { kind, call_id }))
    }

    /// The first free one of `stem_1`, `stem_2` and so on; from `stem_2` if `stem` is in use.
    fn next(&mut self, stem: &CallKey) -> CallId {
        let first = usize::from(self.taken.contains(stem));
        let number = self.numbers.entry(stem.clone()).or_insert(first);
        loop {
            *number += 1;
            let call_id = CallId::from(format!("{}_{number}", stem.call_id));
            let kind = stem.kind.clone();
            if self.taken.insert(CallKey { kind, call_id: call_id.clone() }) {
                return call_id;
            }
        }
    }
}

pub(super) fn is_overlong(call_id: &CallId) -> bool {
    call_id.as_str().chars().count() > MAX_ID_LENGTH
}

fn stem(CallKey { kind, call_id }: &CallKey) -> CallId {
    match call_id.as_str() {
        "" if kind.call_id_field() == CallIdField::Id => CallId::from(kind.id_prefix()),
        "" => CallId::from("call"),
        text => match text.char_indices().nth(STEM_LENGTH) {
            Some((end, _)) => CallId::from(&text[..end]),
            None => call_id.clone(),
        },
    }
}

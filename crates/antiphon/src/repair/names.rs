//! Call ids for calls that cannot keep theirs.

use std::collections::{HashMap, HashSet};

use crate::faults::MAX_ID_LENGTH;
use crate::item::{CallId, CallKey};

/// The length up to which an old id is kept in a new one: what is left holds `_` and a number.
const STEM_LENGTH: usize = MAX_ID_LENGTH - 10;

/// The call ids that are in use. New ones are made from the old and a number, so that the same
/// history is always sent as the same bytes.
pub(super) struct Names {
    taken: HashSet<CallKey>,
    met: HashSet<CallKey>,
    /// The latest number of each stem.
    numbers: HashMap<CallKey, usize>,
}

impl Names {
    pub(super) fn of(keys: impl Iterator<Item = CallKey>) -> Self {
        Self { taken: keys.collect(), met: HashSet::new(), numbers: HashMap::new() }
    }

    /// Another `call_id` for the next call; `None` where it keeps its own.
    pub(super) fn for_call(&mut self, key: &CallKey) -> Option<CallId> {
        let is_wellformed = !key.call_id.as_str().is_empty() && !is_overlong(&key.call_id);
        if is_wellformed && self.met.insert(key.clone()) {
            return None;
        }
        let call_id = stem(&key.call_id);
        let kind = key.kind.clone();
        Some(self.next(&CallKey { kind, call_id }))
    }

    /// `stem_1`, or `stem_2` where the stem itself is a name, and so on.
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

fn stem(call_id: &CallId) -> CallId {
    match call_id.as_str() {
        "" => CallId::from("call"),
        text => match text.char_indices().nth(STEM_LENGTH) {
            Some((end, _)) => CallId::from(&text[..end]),
            None => call_id.clone(),
        },
    }
}

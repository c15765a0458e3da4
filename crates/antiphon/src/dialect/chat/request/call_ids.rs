//! Ids for the calls of one message.

use std::collections::{HashMap, HashSet};

use crate::json::{quote, unquote};

/// The ids in use. An output names its call by the id alone, so every call of a message has one of
/// its own; among items a function's call and a custom tool's may have the same.
///
/// An id that is free is kept as it came, and one that is taken gets a number.
#[derive(Default)]
pub(super) struct CallIds {
    taken: HashSet<String>,
    /// The latest number of each id.
    numbers: HashMap<String, usize>,
}

impl CallIds {
    /// The id for the next call, raw. `call_id`: a raw JSON string.
    pub(super) fn next(&mut self, call_id: &str) -> String {
        let text = unquote(call_id).unwrap_or_else(|| call_id.into());
        if self.taken.insert(text.clone().into_owned()) {
            return call_id.to_owned();
        }
        let number = self.numbers.entry(text.clone().into_owned()).or_insert(1);
        loop {
            *number += 1;
            let id = format!("{text}_{number}");
            let raw = quote(&id);
            if self.taken.insert(id) {
                return raw;
            }
        }
    }
}

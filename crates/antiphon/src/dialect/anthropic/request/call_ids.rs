//! Ids for `tool_use` blocks.

use std::collections::{HashMap, HashSet};

/// The ids in use. Anthropic requires `tool_use` ids to be unique in a request ("`tool_use` ids
/// must be unique") and to match `^[a-zA-Z0-9_-]+$`.
///
/// A valid `call_id` is used unchanged. In any other, `_` replaces each invalid character, and a
/// number is appended if the id is taken. An id never depends on later calls: the next request of
/// the conversation begins with the same bytes, as prompt caches need it.
#[derive(Default)]
pub(super) struct CallIds {
    taken: HashSet<String>,
    /// The last number that was appended to each stem.
    numbers: HashMap<String, usize>,
}

impl CallIds {
    /// Returns the id for the next call.
    pub(super) fn next(&mut self, call_id: &str) -> String {
        let stem = to_valid_id(call_id);
        if self.taken.insert(stem.clone()) {
            return stem;
        }
        let number = self.numbers.entry(stem.clone()).or_insert(1);
        loop {
            *number += 1;
            let name = format!("{stem}_{number}");
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

fn to_valid_id(call_id: &str) -> String {
    let is_valid = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let stem = call_id.chars().map(|letter| if is_valid(letter) { letter } else { '_' });
    let stem: String = stem.collect();
    if stem.is_empty() { "call".to_owned() } else { stem }
}

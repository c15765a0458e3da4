//! Ids for `tool_use` blocks.

use std::collections::{HashMap, HashSet};

/// The ids in use. Anthropic wants every `tool_use` id once in a request ("`tool_use` ids must be
/// unique") and of the form `^[a-zA-Z0-9_-]+$`.
///
/// A `call_id` that is so is kept. Of any other, each character that may not be becomes `_`, and
/// one that is taken gets a number. Names depend on nothing that comes later: what a request begins
/// with is sent as the same bytes next time, as prompt caches need it.
#[derive(Default)]
pub(super) struct CallNames {
    taken: HashSet<String>,
    /// The latest number of each stem.
    numbers: HashMap<String, usize>,
}

impl CallNames {
    /// The id for the next call.
    pub(super) fn next(&mut self, call_id: &str) -> String {
        let stem = wellformed(call_id);
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

fn wellformed(call_id: &str) -> String {
    let may_stand = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let stem = call_id.chars().map(|letter| if may_stand(letter) { letter } else { '_' });
    let stem: String = stem.collect();
    if stem.is_empty() { "call".to_owned() } else { stem }
}

//! The ids of the calls in one message.

use std::collections::{HashMap, HashSet};

use crate::json::{quote, unquote};

/// OpenAI's limit for the id of a call, in characters. The Responses API allows 64, and clients
/// send ids that come from other servers.
const MAX_LENGTH: usize = 40;

/// The length of an id's beginning that is used before a number.
const STEM_LENGTH: usize = 30;

/// The ids in use. An output refers to its call only by id, so the calls of a message need unique
/// ids. Among items, a function call and a custom tool call can have the same `call_id`.
///
/// A free id is used unchanged. If an id is taken or too long, a number is appended to its
/// beginning.
#[derive(Default)]
pub(super) struct CallIds {
    taken: HashSet<String>,
    /// The last number that was appended to each beginning.
    numbers: HashMap<String, usize>,
}

impl CallIds {
    /// The raw id for the next call. `call_id` is a raw JSON string.
    pub(super) fn next(&mut self, call_id: &str) -> String {
        let text = unquote(call_id).unwrap_or_else(|| call_id.into());
        if text.chars().count() <= MAX_LENGTH && self.taken.insert(text.clone().into_owned()) {
            return call_id.to_owned();
        }
        let stem: String = text.chars().take(STEM_LENGTH).collect();
        let number = self.numbers.entry(stem.clone()).or_insert(1);
        loop {
            *number += 1;
            let id = format!("{stem}_{number}");
            let raw = quote(&id);
            if self.taken.insert(id) {
                return raw;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(call_ids: &[&str]) -> Vec<String> {
        let mut ids = CallIds::default();
        call_ids.iter().map(|call_id| ids.next(&quote(call_id))).collect()
    }

    #[test]
    fn short_id_is_unchanged() {
        let longest = "é".repeat(MAX_LENGTH);
        for call_id in ["call_1", "a \"b\"", longest.as_str()] {
            assert_eq!(named(&[call_id]), [quote(call_id)]);
        }
    }

    #[test]
    fn long_or_taken_id_gets_number() {
        let (one, two) = (format!("{}1", "x".repeat(60)), format!("{}2", "x".repeat(60)));
        let longest = "x".repeat(MAX_LENGTH);
        let names = named(&[&longest, &one, &two, &longest]);
        let distinct: HashSet<&String> = names.iter().collect();
        assert_eq!(distinct.len(), 4);
        for name in &names {
            assert!(unquote(name).is_some_and(|name| name.chars().count() <= MAX_LENGTH));
        }
    }
}

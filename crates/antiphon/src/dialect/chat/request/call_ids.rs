//! Ids for the calls of one message.

use std::collections::{HashMap, HashSet};

use crate::json::{quote, unquote};

/// OpenAI's bound on the id of a call, in characters. The Responses API takes 64, and callers send
/// what other servers made up.
const MAX_LENGTH: usize = 40;

/// How much of an id is kept in front of a number.
const STEM_LENGTH: usize = 30;

/// The ids in use. An output names its call by the id alone, so every call of a message has one of
/// its own; among items a function's call and a custom tool's may have the same.
///
/// An id that is free is kept as it came. One that is taken, or too long, gets a number behind its
/// beginning.
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
    fn what_is_short_enough_stays() {
        let longest = "é".repeat(MAX_LENGTH);
        for call_id in ["call_1", "a \"b\"", longest.as_str()] {
            assert_eq!(named(&[call_id]), [quote(call_id)]);
        }
    }

    #[test]
    fn what_is_too_long_or_taken_is_cut_and_told_apart() {
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

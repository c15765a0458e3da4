//! Ids of tool calls.

use std::collections::HashMap;

use crate::json::{quote, unquote};

/// OpenAI's bound on the id of a call, in characters. The Responses API takes 64, and callers send
/// what other servers made up.
const MAX_LENGTH: usize = 40;

/// How much of an overlong id is kept in front of its number.
const STEM_LENGTH: usize = 30;

/// The names by which calls go.
///
/// A `call_id` that is short enough is kept. Any other becomes its beginning and a number. Names
/// depend on nothing that comes later: what a request begins with is sent as the same bytes next
/// time, as prompt caches need it.
#[derive(Default)]
pub(super) struct CallIds {
    /// The latest number of each stem.
    numbers: HashMap<String, usize>,
}

impl CallIds {
    /// The id of the next call, raw, whose `call_id` is this raw string.
    pub(super) fn next(&mut self, raw: &str) -> String {
        if raw.len() <= MAX_LENGTH {
            return raw.to_owned();
        }
        let call_id = unquote(raw).unwrap_or_default();
        if call_id.chars().count() <= MAX_LENGTH {
            return raw.to_owned();
        }
        let stem: String = call_id.chars().take(STEM_LENGTH).collect();
        let number = self.numbers.entry(stem.clone()).or_default();
        *number += 1;
        quote(&format!("{stem}_{number}"))
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
        for call_id in ["call_1", "", "a \"b\"", longest.as_str()] {
            assert_eq!(named(&[call_id]), [quote(call_id)]);
        }
    }

    #[test]
    fn what_is_too_long_is_cut_and_told_apart() {
        let (one, two) = (format!("{}1", "x".repeat(60)), format!("{}2", "x".repeat(60)));
        let names = named(&[&one, &two]);
        assert_ne!(names[0], names[1]);
        for name in names {
            assert!(unquote(&name).is_some_and(|name| name.chars().count() <= MAX_LENGTH));
        }
    }
}

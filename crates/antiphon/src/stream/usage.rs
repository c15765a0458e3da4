//! Token counts of a response.

use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

use crate::json::Object;

/// The tokens of a response, or of several. A count that the server omits is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// All input, including cached input.
    pub input_tokens: u64,
    /// The input that was read from a cache.
    pub cached_tokens: u64,
    /// The input that was written to a cache.
    pub cache_write_tokens: u64,
    /// All output, including reasoning.
    pub output_tokens: u64,
    /// The output that was reasoning.
    pub reasoning_tokens: u64,
    /// The server's total.
    pub total_tokens: u64,
}

impl Usage {
    /// Reads the `usage` of a response object; zeros if it has none.
    pub fn from_response(response: &Object<'_>) -> Self {
        response.get("usage").and_then(Self::from_json).unwrap_or_default()
    }

    /// Reads a `usage` object; `None` if the text is not an object.
    pub fn from_json(usage: &str) -> Option<Self> {
        let usage = Object::parse_str(usage).ok()?;
        let (input, output) = (count(&usage, "input_tokens"), count(&usage, "output_tokens"));
        let details = |key| usage.get(key).and_then(|details| Object::parse_str(details).ok());
        let detail =
            |details: &Option<Object<'_>>, key| details.as_ref().map_or(0, |it| count(it, key));
        let of_input = details("input_tokens_details");
        let total = usage.get("total_tokens").and_then(|raw| raw.parse().ok());
        Some(Self {
            input_tokens: input,
            cached_tokens: detail(&of_input, "cached_tokens"),
            cache_write_tokens: detail(&of_input, "cache_write_tokens"),
            output_tokens: output,
            reasoning_tokens: detail(&details("output_tokens_details"), "reasoning_tokens"),
            total_tokens: total.unwrap_or_else(|| input.saturating_add(output)),
        })
    }
}

fn count(object: &Object<'_>, key: &str) -> u64 {
    object.get(key).and_then(|raw| raw.parse().ok()).unwrap_or_default()
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let sum = u64::saturating_add;
        Self {
            input_tokens: sum(self.input_tokens, other.input_tokens),
            cached_tokens: sum(self.cached_tokens, other.cached_tokens),
            cache_write_tokens: sum(self.cache_write_tokens, other.cache_write_tokens),
            output_tokens: sum(self.output_tokens, other.output_tokens),
            reasoning_tokens: sum(self.reasoning_tokens, other.reasoning_tokens),
            total_tokens: sum(self.total_tokens, other.total_tokens),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_response_are_read() {
        let usage = concat!(
            r#"{"input_tokens":9,"input_tokens_details":{"cached_tokens":4,"#,
            r#""cache_write_tokens":2},"output_tokens":5,"#,
            r#""output_tokens_details":{"reasoning_tokens":3},"total_tokens":14}"#
        );
        let expected = Usage {
            input_tokens: 9,
            cached_tokens: 4,
            cache_write_tokens: 2,
            output_tokens: 5,
            reasoning_tokens: 3,
            total_tokens: 14,
        };
        assert_eq!(Usage::from_json(usage), Some(expected));
        let response = format!(r#"{{"usage":{usage}}}"#);
        assert_eq!(Usage::from_response(&Object::parse_str(&response).unwrap()), expected);
    }

    #[test]
    fn missing_counts_are_zero() {
        let usage = Usage::from_json(r#"{"input_tokens":9,"output_tokens":5}"#).unwrap();
        assert_eq!((usage.cached_tokens, usage.total_tokens), (0, 14));
        for absent in ["null", "7", ""] {
            assert_eq!(Usage::from_json(absent), None, "{absent}");
        }
    }
}

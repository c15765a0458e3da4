//! Token counts.

use std::ops::{Add, AddAssign};

use antiphon::json::Object;
use serde::{Deserialize, Serialize};

/// The tokens of an answer, or of several. A count that the server omits is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// All input, including cached input.
    pub input_tokens: u64,
    /// The input that was read from a cache.
    pub cached_tokens: u64,
    /// All output, including reasoning.
    pub output_tokens: u64,
    /// The output that was reasoning.
    pub reasoning_tokens: u64,
    /// The server's total.
    pub total_tokens: u64,
}

impl Usage {
    /// Reads the `usage` of a response object.
    pub fn from_response(response: &Object<'_>) -> Self {
        let Some(usage) = nested(response, "usage") else { return Self::default() };
        let (input, output) = (count(&usage, "input_tokens"), count(&usage, "output_tokens"));
        let detail = |object, key| nested(&usage, object).map_or(0, |it| count(&it, key));
        let total = usage.get("total_tokens").and_then(|raw| raw.parse().ok());
        Self {
            input_tokens: input,
            cached_tokens: detail("input_tokens_details", "cached_tokens"),
            output_tokens: output,
            reasoning_tokens: detail("output_tokens_details", "reasoning_tokens"),
            total_tokens: total.unwrap_or_else(|| input.saturating_add(output)),
        }
    }
}

fn nested<'a>(object: &'a Object<'_>, key: &str) -> Option<Object<'a>> {
    Object::parse_str(object.get(key)?).ok()
}

fn count(object: &Object<'_>, key: &str) -> u64 {
    object.get(key).and_then(|raw| raw.parse().ok()).unwrap_or_default()
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_add(other.reasoning_tokens),
            total_tokens: self.total_tokens.saturating_add(other.total_tokens),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

//! Token counts.

use std::ops::Add;

/// Token counts in the categories of the Responses API. A count that the provider omits is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// All input, including cached input.
    pub(super) input: u64,
    /// The input that was read from a cache.
    pub(super) cached: u64,
    /// The input that was written to a cache.
    pub(super) written: u64,
    /// All output, including reasoning.
    pub(super) output: u64,
    /// The output that was reasoning.
    pub(super) reasoning: u64,
    /// The provider's total, if it sends one.
    pub(super) total: Option<u64>,
}

impl Usage {
    /// The counts as the `usage` of a response, which contains all fields.
    pub(super) fn to_json(self) -> String {
        let Self { input, cached, written, output, reasoning, .. } = self;
        let total = self.total();
        format!(
            concat!(
                r#"{{"input_tokens":{},"#,
                r#""input_tokens_details":{{"cached_tokens":{},"cache_write_tokens":{}}},"#,
                r#""output_tokens":{},"output_tokens_details":{{"reasoning_tokens":{}}},"#,
                r#""total_tokens":{}}}"#
            ),
            input, cached, written, output, reasoning, total
        )
    }

    fn total(self) -> u64 {
        self.total.unwrap_or(self.input.saturating_add(self.output))
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cached: self.cached.saturating_add(other.cached),
            written: self.written.saturating_add(other.written),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
            total: Some(self.total().saturating_add(other.total())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_total_is_computed() {
        let usage =
            Usage { input: 10, cached: 4, written: 2, output: 5, reasoning: 3, total: None };
        let json = concat!(
            r#"{"input_tokens":10,"#,
            r#""input_tokens_details":{"cached_tokens":4,"cache_write_tokens":2},"#,
            r#""output_tokens":5,"output_tokens_details":{"reasoning_tokens":3},"#,
            r#""total_tokens":15}"#
        );
        assert_eq!(usage.to_json(), json);
    }
}

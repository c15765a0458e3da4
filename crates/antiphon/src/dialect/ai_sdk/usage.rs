//! How many tokens an answer took.

use std::ops::Add;

use crate::json::Object;

/// Token counts. Where a provider leaves one out, it is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    input: u64,
    cached: u64,
    output: u64,
    reasoning: u64,
    total: Option<u64>,
}

impl Usage {
    /// Counts as any version gives them; `None` where it gives none.
    ///
    /// - 5: `inputTokens`, `outputTokens`, `reasoningTokens`, `cachedInputTokens`, `totalTokens`;
    /// - 6 and 7, of a model: `inputTokens.total`, `inputTokens.cacheRead`, `outputTokens.total`,
    ///   `outputTokens.reasoning`;
    /// - 6 and 7, of a `fullStream`: `inputTokens`, `inputTokenDetails.cacheReadTokens`,
    ///   `outputTokens`, `outputTokenDetails.reasoningTokens`, `totalTokens`.
    pub(super) fn of(usage: &Object<'_>) -> Option<Self> {
        let count = |path: &[&str]| number(usage, path);
        let any = |paths: &[&[&str]]| paths.iter().find_map(|path| count(path));
        let input = any(&[&["inputTokens"], &["inputTokens", "total"]]);
        let output = any(&[&["outputTokens"], &["outputTokens", "total"]]);
        let total = count(&["totalTokens"]);
        input.or(output).or(total)?;
        let cached = any(&[
            &["inputTokens", "cacheRead"],
            &["inputTokenDetails", "cacheReadTokens"],
            &["cachedInputTokens"],
        ]);
        let reasoning = any(&[
            &["outputTokens", "reasoning"],
            &["outputTokenDetails", "reasoningTokens"],
            &["reasoningTokens"],
        ]);
        Some(Self {
            input: input.unwrap_or(0),
            cached: cached.unwrap_or(0),
            output: output.unwrap_or(0),
            reasoning: reasoning.unwrap_or(0),
            total,
        })
    }

    /// As a response object has it.
    pub(super) fn to_json(self) -> String {
        let Self { input, cached, output, reasoning, .. } = self;
        let total = self.total();
        format!(
            concat!(
                r#"{{"input_tokens":{},"input_tokens_details":{{"cached_tokens":{}}},"#,
                r#""output_tokens":{},"output_tokens_details":{{"reasoning_tokens":{}}},"#,
                r#""total_tokens":{}}}"#
            ),
            input, cached, output, reasoning, total
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
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
            total: Some(self.total().saturating_add(other.total())),
        }
    }
}

fn number(object: &Object<'_>, path: &[&str]) -> Option<u64> {
    let (key, rest) = path.split_first()?;
    let raw = object.present(key)?;
    if rest.is_empty() {
        return raw.parse().ok();
    }
    number(&Object::parse(raw.as_bytes()).ok()?, rest)
}

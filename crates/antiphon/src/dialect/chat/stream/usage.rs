//! How many tokens an answer took.

use crate::json::Object;

/// The counts of a `usage` object. What a server does not count is none.
///
/// Servers that report on every chunk (`continuous_usage_stats`) count up: the last is the one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    input: u64,
    cached: u64,
    output: u64,
    reasoning: u64,
    total: u64,
}

impl Usage {
    /// The counts in `raw`; `None` where it is no object, or an empty one.
    pub(super) fn reported(raw: Option<&str>) -> Option<Self> {
        let usage = Object::parse(raw?.as_bytes()).ok()?;
        usage.iter().next()?;
        let (input, output) = (count(&usage, "prompt_tokens"), count(&usage, "completion_tokens"));
        let cached = detail(&usage, "prompt_tokens_details", "cached_tokens");
        let reasoning = detail(&usage, "completion_tokens_details", "reasoning_tokens");
        let (input, output) = (input.unwrap_or(0), output.unwrap_or(0));
        Some(Self {
            input,
            // DeepSeek counts the cached ones in a field of its own.
            cached: cached.or_else(|| count(&usage, "prompt_cache_hit_tokens")).unwrap_or(0),
            output,
            // So does SGLang with those of reasoning.
            reasoning: reasoning.or_else(|| count(&usage, "reasoning_tokens")).unwrap_or(0),
            total: count(&usage, "total_tokens").unwrap_or(input.saturating_add(output)),
        })
    }

    /// The counts as the Responses API has them: all are present.
    pub(super) fn to_json(self) -> String {
        let Self { input, cached, output, reasoning, total } = self;
        format!(r#"{{"input_tokens":{input},"input_tokens_details":{{"cached_tokens":{cached}}},"#)
            + &format!(
                r#""output_tokens":{output},"output_tokens_details":{{"reasoning_tokens":{reasoning}}},"#
            )
            + &format!(r#""total_tokens":{total}}}"#)
    }
}

fn count(usage: &Object<'_>, key: &str) -> Option<u64> {
    usage.get(key)?.parse().ok()
}

fn detail(usage: &Object<'_>, list: &str, key: &str) -> Option<u64> {
    count(&Object::parse(usage.present(list)?.as_bytes()).ok()?, key)
}

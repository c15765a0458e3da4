//! How many tokens an answer took, as Chat Completions count.

use crate::dialect::usage::Usage;
use crate::json::Object;

/// The counts in `raw`; `None` where it is no object, or an empty one.
///
/// Servers that report on every chunk (`continuous_usage_stats`) count up: the last is the one.
pub(super) fn reported(raw: Option<&str>) -> Option<Usage> {
    let usage = Object::parse(raw?.as_bytes()).ok()?;
    usage.iter().next()?;
    let (input, output) = (count(&usage, "prompt_tokens"), count(&usage, "completion_tokens"));
    let cached = detail(&usage, "prompt_tokens_details", "cached_tokens");
    let reasoning = detail(&usage, "completion_tokens_details", "reasoning_tokens");
    let (input, output) = (input.unwrap_or(0), output.unwrap_or(0));
    Some(Usage {
        input,
        // DeepSeek counts the cached ones in a field of its own.
        cached: cached.or_else(|| count(&usage, "prompt_cache_hit_tokens")).unwrap_or(0),
        written: detail(&usage, "prompt_tokens_details", "cache_write_tokens").unwrap_or(0),
        output,
        // So does SGLang with those of reasoning.
        reasoning: reasoning.or_else(|| count(&usage, "reasoning_tokens")).unwrap_or(0),
        total: count(&usage, "total_tokens"),
    })
}

fn count(usage: &Object<'_>, key: &str) -> Option<u64> {
    usage.get(key)?.parse().ok()
}

fn detail(usage: &Object<'_>, list: &str, key: &str) -> Option<u64> {
    count(&usage.object(list)?, key)
}

//! Token counts of Chat Completions.

use crate::dialect::usage::Usage;
use crate::json::Object;

/// Parses the counts in `raw`; `None` if it is not an object, or empty.
///
/// Servers that report usage in every chunk (`continuous_usage_stats`) send totals: the last one
/// counts.
pub(super) fn parse(raw: Option<&str>) -> Option<Usage> {
    let usage = Object::parse(raw?.as_bytes()).ok()?;
    usage.iter().next()?;
    let (input, output) = (count(&usage, "prompt_tokens"), count(&usage, "completion_tokens"));
    let cached = detail(&usage, "prompt_tokens_details", "cached_tokens");
    let reasoning = detail(&usage, "completion_tokens_details", "reasoning_tokens");
    let (input, output) = (input.unwrap_or(0), output.unwrap_or(0));
    Some(Usage {
        input,
        // DeepSeek has its own field for cached tokens.
        cached: cached.or_else(|| count(&usage, "prompt_cache_hit_tokens")).unwrap_or(0),
        written: detail(&usage, "prompt_tokens_details", "cache_write_tokens").unwrap_or(0),
        output,
        // SGLang has its own field for reasoning tokens.
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

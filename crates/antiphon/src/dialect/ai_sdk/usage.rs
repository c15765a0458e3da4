//! Token counts of the AI SDK.

use crate::dialect::usage::Usage;
use crate::json::Object;

/// Parses the counts of any version; `None` if there are none.
///
/// - 5: `inputTokens`, `outputTokens`, `reasoningTokens`, `cachedInputTokens`, `totalTokens`;
/// - 6 and 7, of a model: `inputTokens.total`, `inputTokens.cacheRead`, `inputTokens.cacheWrite`,
///   `outputTokens.total`, `outputTokens.reasoning`;
/// - 6 and 7, of a `fullStream`: `inputTokens`, `inputTokenDetails.cacheReadTokens`,
///   `inputTokenDetails.cacheWriteTokens`, `outputTokens`, `outputTokenDetails.reasoningTokens`,
///   `totalTokens`.
pub(super) fn parse(usage: &Object<'_>) -> Option<Usage> {
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
    let written =
        any(&[&["inputTokens", "cacheWrite"], &["inputTokenDetails", "cacheWriteTokens"]]);
    let reasoning = any(&[
        &["outputTokens", "reasoning"],
        &["outputTokenDetails", "reasoningTokens"],
        &["reasoningTokens"],
    ]);
    Some(Usage {
        input: input.unwrap_or(0),
        cached: cached.unwrap_or(0),
        written: written.unwrap_or(0),
        output: output.unwrap_or(0),
        reasoning: reasoning.unwrap_or(0),
        total,
    })
}

fn number(object: &Object<'_>, path: &[&str]) -> Option<u64> {
    let (key, rest) = path.split_first()?;
    let raw = object.present(key)?;
    if rest.is_empty() {
        return raw.parse().ok();
    }
    number(&object.object(key)?, rest)
}

//! The names of the fields that a request may have.

use serde_json::Value;

use crate::Refusal;

const KNOWN: [&str; 33] = [
    "background",
    "context_management",
    "conversation",
    "frequency_penalty",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "moderation",
    "parallel_tool_calls",
    "presence_penalty",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];

/// Refuses the first unknown field.
pub(super) fn reject_unknown(body: &Value) -> Result<(), Refusal> {
    let mut names = body.as_object().into_iter().flat_map(|fields| fields.keys());
    match names.find(|name| !KNOWN.contains(&name.as_str())) {
        Some(name) => Err(Refusal::unknown_field(name)),
        None => Ok(()),
    }
}

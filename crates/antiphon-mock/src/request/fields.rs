//! The names of the fields that a request may have, and the limits of its metadata.

use serde_json::Value;

use crate::Refusal;

const KNOWN: [&str; 34] = [
    "background",
    // Codex sends it to OpenAI in every request.
    "client_metadata",
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

const MOST_PAIRS: usize = 16;
const LONGEST_KEY: usize = 64;
const LONGEST_VALUE: usize = 512;

/// Checks metadata: at most 16 pairs of strings, keys of 64 characters, values of 512.
pub(crate) fn metadata(metadata: &Value) -> Result<(), Refusal> {
    let pairs = match metadata {
        Value::Null => return Ok(()),
        Value::Object(pairs) => pairs,
        other => return Err(Refusal::wrong_type("metadata", "an object", other)),
    };
    if pairs.len() > MOST_PAIRS {
        return Err(Refusal::too_many_properties("metadata", MOST_PAIRS, pairs.len()));
    }
    pairs.iter().try_for_each(|(key, value)| pair(key, value))
}

fn pair(key: &str, value: &Value) -> Result<(), Refusal> {
    let length = key.chars().count();
    if length > LONGEST_KEY {
        return Err(Refusal::too_long("metadata", LONGEST_KEY, length));
    }
    let param = format!("metadata.{key}");
    let Some(text) = value.as_str() else {
        return Err(Refusal::wrong_type(&param, "a string", value));
    };
    match text.chars().count() {
        length if length > LONGEST_VALUE => Err(Refusal::too_long(&param, LONGEST_VALUE, length)),
        _ => Ok(()),
    }
}

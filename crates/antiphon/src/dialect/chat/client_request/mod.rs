//! Decodes a client's request of Chat Completions: converts it into one of the Responses API.
//!
//! - [`shape`]: the errors for messages that OpenAI would reject too, in its own texts.
//! - [`instructions`], [`tools`], [`options`]: the fields, the inverse of the encoder's modules.
//! - [`faults`]: the faults of messages that items do not show.
//! - [`refusal`]: the errors for faults that items show.
//!
//! | field | field of the Responses API |
//! |---|---|
//! | `messages` | `instructions`, from the system messages at the start, and `input` |
//! | `max_completion_tokens`, `max_tokens` | `max_output_tokens`, at least 16 |
//! | `tools`, `functions` | `tools` |
//! | `tool_choice`, `function_call` | `tool_choice` |
//! | `response_format`, `verbosity` | `text` |
//! | `reasoning_effort` | `reasoning.effort` |
//! | `logprobs` | `include` |
//! | `web_search_options` | a `web_search` tool |
//! | `stop` | `stop_sequences`, for Anthropic |
//! | `temperature`, `top_p`, `user`, … | the same |
//!
//! For an upstream of Chat Completions, fields that the Responses API does not have (`stop`,
//! `seed`, `top_k`) stay unchanged, because the encoder sends them as they are. For other upstreams
//! they are left out and reported. A request for several answers or for audio is rejected.

pub(super) mod faults;
mod field;
mod instructions;
mod options;
pub(super) mod refusal;
mod shape;
#[cfg(test)]
mod tests;
mod tools;

use self::field::{Field, Fields};
use super::history::{ChatHistoryError, parse_items};
use crate::dialect::request_decoder::RequestDecoder;
use crate::dialect::{DecodedRequest, InvalidRequest, UpstreamApi};
use crate::json::Object;
use crate::transcript::Origin;

/// Converts the request. See [`ClientApi::decode_request`](crate::dialect::ClientApi).
pub(in crate::dialect) fn decode_request(
    request: &Object<'_>,
    upstream: UpstreamApi,
    origin: &Origin,
) -> Result<DecodedRequest, InvalidRequest> {
    let fields = Fields::root(request);
    let mut decoder = RequestDecoder::new(upstream);
    decoder.set_raw("model", fields.required("model")?.string()?);
    let messages = shape::check_messages(&fields, &mut decoder)?;
    let started = instructions::decode(&messages, &mut decoder);
    let rest = messages[started..].iter().map(Field::raw);
    let items = parse_items(super::fields::array(rest).as_bytes(), Some(origin));
    let items = items.map_err(|error| invalid_message(error, started))?;
    options::decode(&fields, &mut decoder)?;
    tools::decode(&fields, &mut decoder)?;
    other_fields(request, &mut decoder);
    Ok(decoder.finish(items))
}

/// The error for a message. Its position counts from the message at `start`.
fn invalid_message(error: ChatHistoryError, start: usize) -> InvalidRequest {
    let (path, reason) = match error {
        ChatHistoryError::NotAnArray(reason) => ("messages".to_owned(), reason),
        ChatHistoryError::Message { position, path, reason } => {
            (format!("messages[{}]{path}", position + start), reason)
        }
    };
    let message = format!("Invalid '{path}': {reason}.");
    InvalidRequest::invalid_value(path, message)
}

/// The fields that the modules of this decoder read.
const READ: [&str; 35] = [
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "modalities",
    "model",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
];

/// Keeps a field that only Chat Completions has.
fn keep_or_leave_out(key: &str, raw: &str, decoder: &mut RequestDecoder) {
    match decoder.is_for(UpstreamApi::Chat) {
        true => decoder.set_raw(key, raw),
        false => decoder.leave_out(key, "the upstream has no counterpart"),
    }
}

/// The fields that nothing else reads: an upstream of Chat Completions receives them. A field that
/// the Responses API has with another meaning is left out.
fn other_fields(request: &Object<'_>, decoder: &mut RequestDecoder) {
    let others = request.iter().filter(|(key, raw)| !READ.contains(key) && *raw != "null");
    for (key, raw) in others {
        if super::request::is_responses_field(key) {
            decoder.leave_out(key, "Chat Completions has no such field");
        } else {
            keep_or_leave_out(key, raw, decoder);
        }
    }
}

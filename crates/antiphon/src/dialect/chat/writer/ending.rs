//! The end of a completion, and its token usage.

use crate::dialect::chat::fields::Fields;
use crate::dialect::item_form::has_pending_call;
use crate::json::{Object, quote};

/// The end of a response in the terms of Chat Completions.
pub(super) enum Outcome {
    /// A message with this `finish_reason`.
    Finished { reason: &'static str },
    /// An error, as JSON.
    Failed { error: String },
}

impl Outcome {
    pub(super) fn from_response(response: &Object<'_>) -> Self {
        match response.string("status").as_deref() {
            Some("completed") => Self::Finished { reason: completed_reason(response) },
            Some("incomplete") => Self::Finished { reason: incomplete_reason(response) },
            _ => Self::Failed { error: error_json(response.object("error").as_ref()) },
        }
    }
}

/// The `finish_reason` of a complete answer: `tool_calls` if a call has no output.
fn completed_reason(response: &Object<'_>) -> &'static str {
    if has_pending_call(&response.objects("output")) { "tool_calls" } else { "stop" }
}

/// The `finish_reason` of an incomplete answer. A stream that a server ended without a reason may
/// lack its end, as with `length`.
fn incomplete_reason(response: &Object<'_>) -> &'static str {
    let details = response.object("incomplete_details").unwrap_or_default();
    match details.string("reason").as_deref() {
        Some("content_filter") => "content_filter",
        _ => "length",
    }
}

/// The `finish_reason` of an answer to a request with the deprecated `functions`.
pub(super) fn legacy_reason(reason: &'static str) -> &'static str {
    if reason == "tool_calls" { "function_call" } else { reason }
}

/// A response's usage as raw JSON with the counts of Chat Completions.
pub(super) fn usage_json(usage: &Object<'_>) -> String {
    let count = |object: &Object<'_>, key| -> u64 {
        object.get(key).and_then(|raw| raw.parse().ok()).unwrap_or(0)
    };
    let input_details = usage.object("input_tokens_details").unwrap_or_default();
    let output_details = usage.object("output_tokens_details").unwrap_or_default();
    let cached = count(&input_details, "cached_tokens");
    let written = count(&input_details, "cache_write_tokens");
    let reasoning = count(&output_details, "reasoning_tokens");
    let (input, output) = (count(usage, "input_tokens"), count(usage, "output_tokens"));
    let written = match written {
        0 => String::new(),
        written => format!(r#","cache_write_tokens":{written}"#),
    };
    let mut json = Fields::new();
    json.raw("prompt_tokens", &input.to_string()).raw("completion_tokens", &output.to_string());
    json.raw("total_tokens", &count(usage, "total_tokens").to_string());
    json.raw("prompt_tokens_details", &format!(r#"{{"cached_tokens":{cached}{written}}}"#));
    json.raw("completion_tokens_details", &format!(r#"{{"reasoning_tokens":{reasoning}}}"#));
    json.json()
}

/// The error for the `error` of a response, which a cancelled response does not have.
///
/// Source: OpenAI's reference of errors, which has the `type` of each code.
fn error_json(error: Option<&Object<'_>>) -> String {
    let string = |key| error.and_then(|error| error.string(key));
    let message = string("message").unwrap_or("The response was cancelled.".into());
    let code = string("code");
    let kind = match code.as_deref() {
        Some("rate_limit_exceeded" | "rate_limit_error") => "rate_limit_error",
        Some("invalid_prompt" | "context_length_exceeded" | "invalid_request_error") => {
            "invalid_request_error"
        }
        _ => "server_error",
    };
    let code = code.map_or_else(|| "null".to_owned(), |code| quote(&code));
    let message = quote(&message);
    format!(r#"{{"error":{{"message":{message},"type":"{kind}","param":null,"code":{code}}}}}"#)
}

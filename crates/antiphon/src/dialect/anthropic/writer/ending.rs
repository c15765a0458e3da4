//! The end of a message, and its token usage.

use std::borrow::Cow;

use crate::dialect::item_form::has_pending_call;
use crate::json::{Object, quote};
use crate::stream::Event;

/// The end of a response in Anthropic's terms.
pub(super) enum Outcome {
    /// A message with a `stop_reason`, and its usage as JSON.
    Stopped { reason: &'static str, usage: String },
    /// An error, as JSON.
    Failed { error: String },
}

/// The types of Anthropic's errors. A failure with one of these codes keeps it.
const ERRORS: [&str; 10] = [
    "invalid_request_error",
    "authentication_error",
    "billing_error",
    "permission_error",
    "not_found_error",
    "request_too_large",
    "rate_limit_error",
    "timeout_error",
    "api_error",
    "overloaded_error",
];

impl Outcome {
    pub(super) fn from_response(response: &Object<'_>) -> Self {
        let is_incomplete = match response.string("status").as_deref() {
            Some("completed") => false,
            Some("incomplete") => true,
            _ => return Self::Failed { error: error_json(response.object("error").as_ref()) },
        };
        Self::Stopped {
            reason: stop_reason(is_incomplete, response),
            usage: usage_json(response.object("usage").as_ref()),
        }
    }

    /// The events that end a stream.
    pub(super) fn events(&self) -> Vec<Event> {
        let event = |kind, data: String| Event { kind: Cow::Borrowed(kind), data: data.into() };
        match self {
            Self::Stopped { reason, usage } => {
                let delta = format!(r#"{{"stop_reason":"{reason}","stop_sequence":null}}"#);
                let data = format!(r#"{{"type":"message_delta","delta":{delta},"usage":{usage}}}"#);
                let stop = r#"{"type":"message_stop"}"#.to_owned();
                vec![event("message_delta", data), event("message_stop", stop)]
            }
            Self::Failed { error } => vec![event("error", error.clone())],
        }
    }
}

/// A response's usage as raw JSON with Anthropic's counts: `input_tokens` excludes tokens read from
/// a cache or written to one.
pub(super) fn usage_json(usage: Option<&Object<'_>>) -> String {
    let count = |object: Option<&Object<'_>>, key| -> u64 {
        object.and_then(|object| object.get(key)?.parse().ok()).unwrap_or(0)
    };
    let details = usage.and_then(|usage| usage.object("input_tokens_details"));
    let cached = count(details.as_ref(), "cached_tokens");
    let written = count(details.as_ref(), "cache_write_tokens");
    let input = count(usage, "input_tokens").saturating_sub(cached).saturating_sub(written);
    let output = count(usage, "output_tokens");
    let cache =
        format!(r#""cache_creation_input_tokens":{written},"cache_read_input_tokens":{cached}"#);
    format!(r#"{{"input_tokens":{input},{cache},"output_tokens":{output}}}"#)
}

/// The `stop_reason` of a response:
///
/// | response | `stop_reason` |
/// |---|---|
/// | incomplete, `content_filter` | `refusal` |
/// | incomplete otherwise | `max_tokens` |
/// | completed with a call without an output | `tool_use` |
/// | completed with a refusal | `refusal` |
/// | completed, with a server tool call as the last item | `pause_turn` |
/// | completed | `end_turn` |
fn stop_reason(is_incomplete: bool, response: &Object<'_>) -> &'static str {
    if is_incomplete {
        let details = response.object("incomplete_details").unwrap_or_default();
        let is_filtered = details.string("reason").as_deref() == Some("content_filter");
        return if is_filtered { "refusal" } else { "max_tokens" };
    }
    let items = response.objects("output");
    if has_pending_call(&items) {
        "tool_use"
    } else if items.iter().any(contains_refusal) {
        "refusal"
    } else if items.last().is_some_and(is_server_tool_call) {
        "pause_turn"
    } else {
        "end_turn"
    }
}

/// Whether the item is a call of a tool that Anthropic runs (`server_tool_use`, `mcp_tool_use`).
fn is_server_tool_call(item: &Object<'_>) -> bool {
    let kind = item.string("type");
    kind.is_some_and(|kind| kind.starts_with("anthropic:") && kind.ends_with("_tool_use"))
}

fn contains_refusal(item: &Object<'_>) -> bool {
    let is_message = item.string("type").as_deref() == Some("message");
    is_message
        && item
            .objects("content")
            .iter()
            .any(|part| part.string("type").as_deref() == Some("refusal"))
}

/// The `error` event for the `error` of a response, which a cancelled response does not have.
fn error_json(error: Option<&Object<'_>>) -> String {
    let string = |key| error.and_then(|error| error.string(key));
    let code = string("code").unwrap_or_default();
    let kind = ERRORS.into_iter().find(|kind| *kind == code);
    let kind = kind.unwrap_or(match &*code {
        "rate_limit_exceeded" => "rate_limit_error",
        "invalid_prompt" => "invalid_request_error",
        "server_is_overloaded" => "overloaded_error",
        _ => "api_error",
    });
    let message = quote(&string("message").unwrap_or("The response was cancelled.".into()));
    format!(r#"{{"type":"error","error":{{"type":"{kind}","message":{message}}}}}"#)
}

//! The streams of upstreams of every dialect: one response in many small deltas.

use antiphon::dialect::Dialect;
use serde_json::{Value, json};

use super::words::Words;

/// The content of a response.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    /// The text of a message.
    Text,
    /// The arguments of a function call.
    Arguments,
}

/// An upstream's dialect.
pub(crate) trait Upstream {
    const DIALECT: Dialect;

    /// The events, each with its `type` if the event stream names it.
    fn events(reply: Said, pieces: &[String]) -> Vec<Value>;
}

pub(crate) struct Responses;
pub(crate) struct Chat;
pub(crate) struct Anthropic;
pub(crate) struct AiSdk;

/// The response as an event stream.
pub(crate) fn event_stream<U: Upstream>(reply: Said, deltas: usize) -> String {
    let mut text = String::new();
    for event in U::events(reply, &pieces(deltas)) {
        if let Some(kind) = event["type"].as_str().filter(|_| U::DIALECT != Dialect::AiSdk) {
            text.extend(["event: ", kind, "\n"]);
        }
        text.extend(["data: ", &event.to_string(), "\n\n"]);
    }
    text
}

pub(crate) fn pieces(count: usize) -> Vec<String> {
    let mut words = Words::new(count);
    (0..count).map(|_| words.prose(4)).collect()
}

impl Upstream for Responses {
    const DIALECT: Dialect = Dialect::Responses;

    fn events(reply: Said, pieces: &[String]) -> Vec<Value> {
        let mut events = match reply {
            Said::Text => super::stream::message(pieces),
            Said::Arguments => super::stream::call(pieces),
        };
        for (number, event) in events.iter_mut().enumerate() {
            event["sequence_number"] = number.into();
        }
        events
    }
}

impl Upstream for Chat {
    const DIALECT: Dialect = Dialect::Chat;

    fn events(reply: Said, pieces: &[String]) -> Vec<Value> {
        let call = |function: Value| json!({"tool_calls": [{"index": 0, "function": function}]});
        let begun = json!({"role": "assistant", "content": null, "tool_calls": [{"index": 0,
            "id": "call_9vYxQk2mHs0LrWcT8uJdB1Ne", "type": "function",
            "function": {"name": "search", "arguments": ""}}]});
        let (begun, finish) = match reply {
            Said::Text => (json!({"role": "assistant", "content": ""}), "stop"),
            Said::Arguments => (begun, "tool_calls"),
        };
        let deltas = pieces.iter().map(|piece| match reply {
            Said::Text => json!({"content": piece}),
            Said::Arguments => call(json!({"arguments": piece})),
        });
        let deltas = [begun].into_iter().chain(deltas);
        let mut chunks: Vec<Value> = deltas.map(|delta| chunk(&delta, &Value::Null)).collect();
        chunks.push(chunk(&json!({}), &finish.into()));
        chunks
    }
}

/// A chunk with the fields that OpenAI sends in each one.
fn chunk(delta: &Value, finish_reason: &Value) -> Value {
    json!({"id": "chatcmpl-BxQ2mW8vK4dTn1pLs7RzYfHcA3Ue0", "object": "chat.completion.chunk",
        "created": 1_769_990_400, "model": "gpt-4.1-mini-2025-04-14", "service_tier": "default",
        "system_fingerprint": "fp_6f2eabb9a5", "choices": [{"index": 0, "delta": delta,
        "logprobs": null, "finish_reason": finish_reason}], "usage": null, "obfuscation": "k3Zq8"})
}

impl Upstream for Anthropic {
    const DIALECT: Dialect = Dialect::Anthropic;

    fn events(reply: Said, pieces: &[String]) -> Vec<Value> {
        let block = match reply {
            Said::Text => json!({"type": "text", "text": ""}),
            Said::Arguments => json!({"type": "tool_use", "id": "toolu_01A09q90qw90lq917835lq9",
                "name": "search", "input": {}}),
        };
        let deltas = pieces.iter().map(|piece| match reply {
            Said::Text => json!({"type": "text_delta", "text": piece}),
            Said::Arguments => json!({"type": "input_json_delta", "partial_json": piece}),
        });
        let mut events = vec![
            json!({"type": "message_start", "message": {"id": "msg_01G8fRz4LmXv6QkTy9BwHcNs",
                "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929",
                "content": [], "stop_reason": null, "stop_sequence": null,
                "usage": {"input_tokens": 2210, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": block}),
        ];
        events.extend(
            deltas.map(|delta| json!({"type": "content_block_delta", "index": 0, "delta": delta})),
        );
        events.push(json!({"type": "content_block_stop", "index": 0}));
        events.push(json!({"type": "message_delta", "usage": {"output_tokens": pieces.len()},
            "delta": {"stop_reason": "end_turn", "stop_sequence": null}}));
        events.push(json!({"type": "message_stop"}));
        events
    }
}

impl Upstream for AiSdk {
    const DIALECT: Dialect = Dialect::AiSdk;

    fn events(reply: Said, pieces: &[String]) -> Vec<Value> {
        let id = "msg_0123456789abcdef0123456789abcdef";
        let (begun, delta, ended) = match reply {
            Said::Text => ("text-start", "text-delta", "text-end"),
            Said::Arguments => ("tool-input-start", "tool-input-delta", "tool-input-end"),
        };
        let mut parts = vec![
            json!({"type": "stream-start", "warnings": []}),
            json!({"type": "response-metadata", "id": "resp_1", "modelId": "gpt-5"}),
            json!({"type": begun, "id": id, "toolName": "search"}),
        ];
        parts.extend(pieces.iter().map(|it| json!({"type": delta, "id": id, "delta": it})));
        parts.push(json!({"type": ended, "id": id}));
        if reply == Said::Arguments {
            parts.push(json!({"type": "tool-call", "toolCallId": id, "toolName": "search",
                "input": pieces.concat()}));
        }
        parts.push(json!({"type": "finish", "finishReason": {"unified": "stop"},
            "usage": {"inputTokens": {"total": 12}, "outputTokens": {"total": 34}}}));
        parts
    }
}

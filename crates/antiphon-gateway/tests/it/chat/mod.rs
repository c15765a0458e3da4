//! Clients of Chat Completions, for upstreams of every API.

mod completion;
mod errors;
mod faults;
mod unchanged;

use serde_json::{Value, json};

pub(crate) use self::completion::{Completion, events};
use crate::support::{Answer, Client, MODEL, Mode};

pub(crate) const PATH: &str = "/v1/chat/completions";

/// A request with these messages and the echo tool.
pub(crate) fn request(messages: &Value) -> Value {
    json!({"model": MODEL, "tools": [echo_tool()], "messages": messages})
}

/// The tool of the three turns, as clients of Chat Completions define it.
fn echo_tool() -> Value {
    json!({"type": "function", "function": {"name": "echo", "description": "Says it again.",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}},
            "required": ["text"]}}})
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

/// An assistant message with calls of the echo tool: ids and texts.
fn calls(calls: &[(&str, &str)]) -> Value {
    let call = |(id, text): &(&str, &str)| {
        json!({"id": id, "type": "function", "function":
            {"name": "echo", "arguments": json!({"text": text}).to_string()}})
    };
    json!({"role": "assistant", "content": null,
        "tool_calls": calls.iter().map(call).collect::<Vec<_>>()})
}

pub(crate) fn output(id: &str, content: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": content})
}

/// Sends the request. The answer must be well-formed.
async fn complete(client: &Client, mode: Mode, request: &Value) -> Completion {
    Completion::read(&post(client, mode, request).await, mode)
}

/// Sends the request, and reads the answer as it came.
async fn post(client: &Client, mode: Mode, request: &Value) -> Answer {
    let mut request = request.clone();
    if mode == Mode::Streamed {
        request["stream"] = true.into();
        request["stream_options"] = json!({"include_usage": true});
    }
    client.post(PATH, &request).await
}

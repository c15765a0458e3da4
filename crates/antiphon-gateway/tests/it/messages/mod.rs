//! Clients of Anthropic's Messages API, for upstreams of every API.

mod counting;
mod errors;
mod faults;
mod headers;
mod message;
mod reports;

use serde_json::{Value, json};

pub(crate) use self::message::{Message, events};
use crate::support::{Answer, Client, MODEL, Mode, World};

pub(crate) const PATH: &str = "/v1/messages";

/// A client with Anthropic's headers.
pub(crate) fn client_of(world: &World) -> Client {
    let client = world.anonymous_client().with_header("x-api-key", "key-of-alice");
    client.with_header("anthropic-version", "2023-06-01")
}

/// A request with these messages and the echo tool.
pub(crate) fn request(messages: &Value) -> Value {
    json!({"model": MODEL, "max_tokens": 2_000, "tools": [echo_tool()], "messages": messages})
}

/// The tool of the three turns, as Anthropic's clients define it.
fn echo_tool() -> Value {
    json!({"name": "echo", "description": "Says it again.", "input_schema": {
        "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}})
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

fn assistant(content: impl Into<Value>) -> Value {
    json!({"role": "assistant", "content": content.into()})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str, text: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "echo", "input": {"text": text}})
}

pub(crate) fn result(id: &str, output: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": output})
}

/// Sends the request. The answer must be well-formed.
async fn create(client: &Client, mode: Mode, request: &Value) -> Message {
    Message::read(&post(client, mode, request).await, mode)
}

/// Sends the request, and reads the answer as it came.
async fn post(client: &Client, mode: Mode, request: &Value) -> Answer {
    let mut request = request.clone();
    if mode == Mode::Streamed {
        request["stream"] = true.into();
    }
    client.post(PATH, &request).await
}

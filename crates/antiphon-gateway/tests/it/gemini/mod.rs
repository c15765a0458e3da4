//! Clients of the Gemini API, for upstreams of every API.

mod generation;
mod headers;
mod history;
mod models;
mod streams;

use serde_json::{Value, json};

pub(crate) use self::generation::Generation;
use crate::support::{Answer, Client, MODEL, Mode, World};

/// The path for an answer of this model.
pub(crate) fn path(model: &str, mode: Mode) -> String {
    match mode {
        Mode::Whole => format!("/v1beta/models/{model}:generateContent"),
        Mode::Streamed => format!("/v1beta/models/{model}:streamGenerateContent?alt=sse"),
    }
}

/// A client with Google's header.
pub(crate) fn client_of(world: &World) -> Client {
    world.anonymous_client().with_header("x-goog-api-key", "key-of-alice")
}

/// A request with these contents and the echo tool. Its model is for the path.
pub(crate) fn request(contents: &Value) -> Value {
    json!({"model": MODEL, "tools": [{"functionDeclarations": [echo_tool()]}],
        "contents": contents})
}

/// The tool of the three turns, as Google's clients define it.
fn echo_tool() -> Value {
    json!({"name": "echo", "description": "Says it again.", "parameters": {"type": "OBJECT",
        "properties": {"text": {"type": "STRING"}}, "required": ["text"]}})
}

pub(crate) fn user(text: &str) -> Value {
    json!({"role": "user", "parts": [{"text": text}]})
}

/// A content with calls of the echo tool, without ids.
fn calls(texts: &[&str]) -> Value {
    let parts = texts.iter();
    let parts = parts.map(|text| json!({"functionCall": {"name": "echo", "args": {"text": text}}}));
    json!({"role": "model", "parts": parts.collect::<Vec<_>>()})
}

/// A content with responses of the echo tool, by their ids.
pub(crate) fn responses(outputs: &[(Option<&str>, &str)]) -> Value {
    let parts = outputs.iter().map(|(id, output)| {
        let mut response = json!({"name": "echo", "response": {"output": output}});
        if let Some(id) = id {
            response["id"] = json!(id);
        }
        json!({"functionResponse": response})
    });
    json!({"role": "user", "parts": parts.collect::<Vec<_>>()})
}

/// Sends the request. The answer must be well-formed.
async fn generate(client: &Client, mode: Mode, request: &Value) -> Generation {
    Generation::read(&post(client, mode, request).await, mode)
}

/// Sends the request, and reads the answer as it came.
pub(crate) async fn post(client: &Client, mode: Mode, request: &Value) -> Answer {
    let mut body = request.clone();
    let model = body.as_object_mut().and_then(|fields| fields.remove("model"));
    let model = model.as_ref().and_then(Value::as_str).expect("a request names its model");
    client.post(&path(model, mode), &body).await
}

//! Requests for a Chat Completions server.

mod content;
mod kinds;
mod options;
mod outputs;
mod reasoning;
mod structured;
mod system;
mod tool_choice;
mod tools;
mod turns;

use serde_json::{Value, json};

use super::encode;
use crate::dialect::request::{Encoded, Request, Unsupported};
use crate::item::{Item, given::item};
use crate::json::Object;
use crate::transcript::Origin;

pub(super) const HERE: &str = "server model";

/// Encodes a request with these fields and items.
fn tried(fields: &Value, items: &[Item]) -> Result<Encoded, Unsupported> {
    let text = fields.to_string();
    let fields = Object::parse(text.as_bytes()).unwrap();
    encode(Request { fields: &fields, items, origin: &Origin::new(HERE) })
}

/// Parses these values as items.
fn items(values: &Value) -> Vec<Item> {
    values.as_array().unwrap().iter().map(|value| item(value.to_string())).collect()
}

/// The body, and the paths of the omissions.
fn encoded(fields: &Value, input: &Value) -> (Value, Vec<String>) {
    let encoded = tried(fields, &items(input)).unwrap();
    let places = encoded.omissions.iter().map(|omission| omission.place.to_string()).collect();
    (serde_json::from_slice(&encoded.body).unwrap(), places)
}

/// The body of a request with these fields. Nothing is left out.
fn body(fields: &Value) -> Value {
    let (body, omitted) = encoded(fields, &json!([]));
    assert!(omitted.is_empty(), "{omitted:?}");
    body
}

/// The messages for these items. Nothing is left out.
fn messages(input: &Value) -> Value {
    let (body, omitted) = encoded(&json!({"model": "m"}), input);
    assert!(omitted.is_empty(), "{omitted:?}");
    body["messages"].clone()
}

/// The messages for these items, and the paths of the omissions.
fn reported(input: &Value) -> (Value, Vec<String>) {
    let (body, omitted) = encoded(&json!({"model": "m"}), input);
    (body["messages"].clone(), omitted)
}

/// The path and the message of a rejection.
fn refused(fields: &Value, input: &Value) -> (String, String) {
    let error = tried(fields, &items(input)).unwrap_err();
    assert!(error.message.contains("Chat Completions"), "{error}");
    assert!(error.message.contains(&error.place.to_string()), "{error}");
    (error.place.to_string(), error.message)
}

/// The path in a rejection of these items.
fn refused_at(input: &Value) -> String {
    refused(&json!({"model": "m"}), input).0
}

/// The path in a rejection of these fields.
fn refused_field(fields: &Value) -> String {
    refused(fields, &json!([])).0
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn assistant(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]})
}

fn call(call_id: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": "fc_1", "call_id": call_id, "name": "f",
        "arguments": arguments, "status": "completed"})
}

fn output(call_id: &str, output: impl Into<Value>) -> Value {
    json!({"type": "function_call_output", "call_id": call_id, "output": output.into()})
}

/// The `tool_calls` entry of a [`call`].
fn called(call_id: &str, arguments: &str) -> Value {
    json!({"id": call_id, "type": "function", "function": {"name": "f", "arguments": arguments}})
}

fn tool(call_id: &str, content: &str) -> Value {
    json!({"role": "tool", "tool_call_id": call_id, "content": content})
}

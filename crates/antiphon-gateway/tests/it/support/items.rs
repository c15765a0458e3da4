//! Input items as clients write them.

use serde_json::{Value, json};

/// A user's message by its role alone, as the AI SDK sends it.
pub(crate) fn user(text: &str) -> Value {
    json!({"role": "user", "content": [part("input_text", text)]})
}

/// A user's message with its type, as most clients send it.
pub(crate) fn typed_user(text: &str) -> Value {
    json!({"type": "message", "role": "user", "content": text})
}

/// What an assistant said, replayed without an id.
pub(crate) fn assistant(text: &str) -> Value {
    json!({"type": "message", "role": "assistant", "content": [part("output_text", text)]})
}

/// The message that a response put out, replayed under its id.
pub(crate) fn assistant_again(message: &Value) -> Value {
    let mut again = assistant(message["content"][0]["text"].as_str().unwrap_or_default());
    again["id"] = message["id"].clone();
    again
}

/// A call by its `call_id`, without an item id.
pub(crate) fn call(call_id: &str, text: &str) -> Value {
    let arguments = json!({"text": text}).to_string();
    json!({"type": "function_call", "call_id": call_id, "name": "echo", "arguments": arguments})
}

/// The call that a response put out, replayed without its item id and status.
pub(crate) fn call_again(call: &Value) -> Value {
    without(&without(call, "id"), "status")
}

/// A tool's output.
pub(crate) fn output(call_id: &Value, text: &str) -> Value {
    json!({"type": "function_call_output", "call_id": call_id, "output": text})
}

/// A reference to an item.
pub(crate) fn reference(id: &Value) -> Value {
    json!({"type": "item_reference", "id": id})
}

/// The item without one of its fields.
pub(crate) fn without(item: &Value, field: &str) -> Value {
    let mut item = item.clone();
    item.as_object_mut().expect("an item is an object").remove(field);
    item
}

/// Items as callers are shown them: each with a status, whatever their provider leaves out.
pub(crate) fn shown(items: &[Value]) -> Vec<Value> {
    let mut items = items.to_vec();
    for item in items.iter_mut().filter(|item| item["status"].is_null()) {
        item["status"] = "completed".into();
    }
    items
}

/// A part of a message's content.
fn part(kind: &str, text: &str) -> Value {
    json!({"type": kind, "text": text})
}

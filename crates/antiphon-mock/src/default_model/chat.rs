//! Reads a Chat Completions request.

use serde_json::{Value, json};

use super::{instructions, present};
use crate::judge::chat::thinks;

/// Converts the request into the Responses API's form.
pub(super) fn read(request: &Value) -> Value {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_instruction =
        |message: &&Value| message["role"] == "system" || message["role"] == "developer";
    let first = messages.first().filter(is_instruction);
    let items: Vec<Value> = messages[first.iter().len()..].iter().flat_map(items).collect();
    let effort = if thinks(request["model"].as_str().unwrap_or_default(), request) {
        &request["reasoning_effort"]
    } else {
        &json!("none")
    };
    present(json!({
        "model": request["model"],
        "instructions": first.map_or(Value::Null, |first| instructions(&first["content"])),
        "input": items,
        "tools": tools(request),
        "tool_choice": request["tool_choice"],
        "reasoning": {"effort": effort},
        "stream_options": request["stream_options"],
        "store": false,
    }))
}

/// Converts tools: a function's fields move into the tool itself.
fn tools(request: &Value) -> Value {
    let tools = request["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let flat = |tool: &Value| {
        let kind = tool["type"].as_str().unwrap_or_default();
        let mut flat = tool[kind].clone();
        flat["type"] = tool["type"].clone();
        flat
    };
    tools.iter().map(flat).collect()
}

fn items(message: &Value) -> Vec<Value> {
    let content = &message["content"];
    match message["role"].as_str() {
        Some("tool") => vec![json!({
            "type": "function_call_output", "call_id": message["tool_call_id"], "output": content,
        })],
        Some("assistant") => assistant_items(message),
        role => vec![json!({"role": role, "content": content})],
    }
}

fn assistant_items(message: &Value) -> Vec<Value> {
    let mut items = Vec::new();
    if let Some(reasoning) = message["reasoning_content"].as_str() {
        let content = json!([{"type": "reasoning_text", "text": reasoning}]);
        items.push(json!({"type": "reasoning", "summary": [], "content": content}));
    }
    let content = &message["content"];
    if !content.is_null() && content != "" {
        items.push(json!({"role": "assistant", "content": content}));
    }
    let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    items.extend(calls.iter().map(call));
    items
}

fn call(call: &Value) -> Value {
    let id = &call["id"];
    if call["type"] == "custom" {
        let (name, input) = (&call["custom"]["name"], &call["custom"]["input"]);
        return json!({"type": "custom_tool_call", "call_id": id, "name": name, "input": input});
    }
    let (name, arguments) = (&call["function"]["name"], &call["function"]["arguments"]);
    json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments})
}

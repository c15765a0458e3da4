//! Reads an Anthropic Messages request.

use serde_json::{Value, json};

use super::{instructions, present};
use crate::judge::anthropic::thinks;

/// Converts the request into the Responses API's form.
pub(super) fn read(request: &Value) -> Value {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let items: Vec<Value> = messages.iter().flat_map(items).collect();
    let thinks = thinks(request["model"].as_str().unwrap_or_default(), request);
    present(json!({
        "model": request["model"],
        "instructions": instructions(&request["system"]),
        "input": items,
        "tools": tools(request),
        "tool_choice": request["tool_choice"]["type"],
        "reasoning": {"effort": if thinks { Value::Null } else { json!("none") }},
        "include": ["reasoning.encrypted_content"],
        "store": false,
    }))
}

/// Converts tools into functions. The provider's own tools are left out.
fn tools(request: &Value) -> Value {
    let tools = request["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let function = |tool: &Value| {
        json!({
            "type": "function",
            "name": tool["name"],
            "description": tool["description"],
            "parameters": tool["input_schema"],
        })
    };
    tools.iter().filter(|tool| tool["input_schema"].is_object()).map(function).collect()
}

/// Converts a message into items. Adjacent blocks without an item type of their own are joined into
/// one message item.
fn items(message: &Value) -> Vec<Value> {
    let role = &message["role"];
    let Some(blocks) = message["content"].as_array() else {
        return vec![json!({"role": role, "content": message["content"]})];
    };
    let mut items = Vec::new();
    let mut content: Vec<Value> = Vec::new();
    for block in blocks {
        match item(block) {
            Some(item) => {
                push_message(role, &mut content, &mut items);
                items.push(item);
            }
            None => content.push(block.clone()),
        }
    }
    push_message(role, &mut content, &mut items);
    items
}

fn push_message(role: &Value, content: &mut Vec<Value>, items: &mut Vec<Value>) {
    if !content.is_empty() {
        items.push(json!({"role": role, "content": std::mem::take(content)}));
    }
}

/// Converts a block that is an item of its own.
fn item(block: &Value) -> Option<Value> {
    match block["type"].as_str()? {
        "thinking" => Some(json!({
            "type": "reasoning",
            "summary": [],
            "content": [{"type": "reasoning_text", "text": block["thinking"]}],
            "encrypted_content": block["signature"],
        })),
        "redacted_thinking" => {
            Some(json!({"type": "reasoning", "summary": [], "encrypted_content": block["data"]}))
        }
        "tool_use" => Some(json!({
            "type": "function_call",
            "call_id": block["id"],
            "name": block["name"],
            "arguments": block["input"].to_string(),
        })),
        "tool_result" => Some(json!({
            "type": "function_call_output",
            "call_id": block["tool_use_id"],
            "output": block["content"],
        })),
        _ => None,
    }
}

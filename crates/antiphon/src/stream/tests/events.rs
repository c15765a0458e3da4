//! Builders of upstream events.

use serde_json::{Value, json};

pub(super) fn created() -> Value {
    json!({"type": "response.created", "response": {"id": "resp_up", "output": []}})
}

pub(super) fn in_progress() -> Value {
    json!({"type": "response.in_progress", "response": {"id": "resp_up", "output": []}})
}

pub(super) fn completed(output: &[Value]) -> Value {
    let response = json!({"id": "resp_up", "status": "completed", "output": output});
    json!({"type": "response.completed", "response": response})
}

pub(super) fn added(index: u64, item: &Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

pub(super) fn done(index: u64, item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

/// An event of an item.
pub(super) fn within(kind: &str, index: u64, item_id: &str, fields: &Value) -> Value {
    let mut event = fields.clone();
    event["type"] = format!("response.{kind}").into();
    event["output_index"] = index.into();
    event["item_id"] = item_id.into();
    event
}

pub(super) fn text_delta(index: u64, item_id: &str, delta: &str) -> Value {
    let fields = json!({"content_index": 0, "delta": delta, "logprobs": []});
    within("output_text.delta", index, item_id, &fields)
}

pub(super) fn text_done(index: u64, item_id: &str, text: &str) -> Value {
    let fields = json!({"content_index": 0, "text": text, "logprobs": []});
    within("output_text.done", index, item_id, &fields)
}

pub(super) fn part_added(index: u64, item_id: &str) -> Value {
    let fields = json!({"content_index": 0, "part": text_part("")});
    within("content_part.added", index, item_id, &fields)
}

pub(super) fn part_done(index: u64, item_id: &str, text: &str) -> Value {
    let fields = json!({"content_index": 0, "part": text_part(text)});
    within("content_part.done", index, item_id, &fields)
}

pub(super) fn arguments_delta(index: u64, item_id: &str, delta: &str) -> Value {
    within("function_call_arguments.delta", index, item_id, &json!({"delta": delta}))
}

pub(super) fn arguments_done(index: u64, item_id: &str, arguments: &str) -> Value {
    let fields = json!({"arguments": arguments});
    within("function_call_arguments.done", index, item_id, &fields)
}

pub(super) fn text_part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

/// A message in its announcement.
pub(super) fn begun_message(id: &str) -> Value {
    json!({"id": id, "type": "message", "status": "in_progress", "role": "assistant",
        "content": []})
}

/// A finished message.
pub(super) fn message(id: &str, text: &str) -> Value {
    json!({"id": id, "type": "message", "status": "completed", "role": "assistant",
        "content": [text_part(text)]})
}

/// A call of the weather function.
pub(super) fn call(id: &str, call_id: &str, arguments: &str) -> Value {
    let status = if arguments.is_empty() { "in_progress" } else { "completed" };
    json!({"id": id, "type": "function_call", "status": status, "call_id": call_id,
        "name": "get_weather", "arguments": arguments})
}

/// A call of the weather function in its announcement.
pub(super) fn begun_call(id: &str, call_id: &str) -> Value {
    call(id, call_id, "")
}

/// Reasoning with a summary of one part, or none.
pub(super) fn reasoning(id: &str, summary: &str, encrypted: &str) -> Value {
    let summary = match summary {
        "" => json!([]),
        text => json!([{"type": "summary_text", "text": text}]),
    };
    json!({"id": id, "type": "reasoning", "summary": summary, "encrypted_content": encrypted})
}

/// The events of a message with these deltas, from its announcement to its end.
pub(super) fn streamed_message(index: u64, id: &str, pieces: &[&str]) -> Vec<Value> {
    let text = pieces.concat();
    let mut events = vec![added(index, &begun_message(id)), part_added(index, id)];
    events.extend(pieces.iter().map(|piece| text_delta(index, id, piece)));
    events.extend([
        text_done(index, id, &text),
        part_done(index, id, &text),
        done(index, &message(id, &text)),
    ]);
    events
}

/// The events of a call with these deltas, from its announcement to its end.
pub(super) fn streamed_call(index: u64, id: &str, call_id: &str, pieces: &[&str]) -> Vec<Value> {
    let arguments = pieces.concat();
    let mut events = vec![added(index, &begun_call(id, call_id))];
    events.extend(pieces.iter().map(|piece| arguments_delta(index, id, piece)));
    events.extend([
        arguments_done(index, id, &arguments),
        done(index, &call(id, call_id, &arguments)),
    ]);
    events
}

/// The item as clients get it: always with a status.
pub(super) fn shown(item: &Value) -> Value {
    let mut item = item.clone();
    if item["status"].is_null() {
        item["status"] = "completed".into();
    }
    item
}

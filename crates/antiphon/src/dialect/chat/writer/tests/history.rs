//! A client returns the message that it got, and the decoder of histories restores the items.

use serde_json::{Value, json};

use super::world::{call, completed, convert, convert_chat, items, message, origin};
use crate::dialect::chat::history::parse_items;

/// The items of a history with this message.
fn returned(message: &Value) -> Vec<Value> {
    let history = json!([message]).to_string();
    let items = parse_items(history.as_bytes(), Some(&origin())).unwrap();
    items.iter().map(|item| serde_json::from_str(item.text()).unwrap()).collect()
}

#[test]
fn encrypted_reasoning_returns_with_its_id() {
    let reasoning = |id: &str, data: &str| {
        json!({"type": "reasoning", "id": id, "encrypted_content": data,
            "summary": [{"type": "summary_text", "text": "Hm"}]})
    };
    let sent = [reasoning("rs_1", "gAAA"), message("Hi"), reasoning("rs_2", "gBBB")];
    let sent = [&sent[..], &[call("call_1", "{}")]].concat();
    let written = convert(&items(&sent, &completed()));
    let back = returned(written.message());
    let ids: Vec<_> = written.output.iter().map(|item| &item["id"]).collect();
    for (item, (id, data)) in back.iter().zip([(ids[0], "gAAA"), (ids[2], "gBBB")]) {
        assert_eq!(
            *item,
            json!({"type": "reasoning", "id": id, "summary": [],
            "encrypted_content": data})
        );
    }
    let kinds: Vec<_> = back.iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["reasoning", "reasoning", "message", "function_call"]);
}

#[test]
fn signed_call_returns_with_its_seal() {
    let extra = json!({"google": {"thought_signature": "AB"}});
    let called = json!({"tool_calls": [{"index": 0, "id": "call_1", "type": "function",
        "function": {"name": "look", "arguments": "{}"}, "extra_content": extra}]});
    let chunk = json!({"id": "c", "model": "m",
        "choices": [{"index": 0, "delta": called, "finish_reason": "tool_calls"}]});
    let written = convert_chat(&[chunk]);
    let back = returned(written.message());
    let seal: Value = serde_json::from_str(back[0]["encrypted_content"].as_str().unwrap()).unwrap();
    let content = json!({"tool_calls": [{"id": "call_1", "extra_content": extra}]});
    assert_eq!(seal["content"], content);
}

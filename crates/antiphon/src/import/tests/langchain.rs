use serde_json::{Value, json};

use super::*;

fn call() -> Value {
    json!({"name": "f", "args": {"n": 1}, "id": "call_1", "type": "tool_call"})
}

fn expected() -> Value {
    json!([
        {"type": "message", "role": "user", "content": "hi"},
        {"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": "I look.", "annotations": []}]},
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{\"n\":1}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "ok"},
    ])
}

#[test]
fn every_serialization_gives_the_same_items() {
    let fields = [
        ("human", "HumanMessage", json!({"content": "hi"})),
        ("ai", "AIMessage", json!({"content": "I look.", "tool_calls": [call()]})),
        ("tool", "ToolMessage", json!({"content": "ok", "tool_call_id": "call_1"})),
    ];
    let plain = |(kind, _, fields): &(&str, &str, Value)| {
        let mut message = fields.clone();
        message["type"] = json!(kind);
        message
    };
    let stored = |(kind, _, fields): &(&str, &str, Value)| json!({"type": kind, "data": fields});
    let dumped = |(_, class, fields): &(&str, &str, Value)| {
        json!({"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", class],
            "kwargs": fields})
    };
    let lists = [
        fields.iter().map(plain).collect::<Vec<_>>(),
        fields.iter().map(stored).collect(),
        fields.iter().map(dumped).collect(),
    ];
    for list in lists {
        let imported = imported(&json!(list));
        assert_eq!(json!(values(&imported)), expected(), "{list:?}");
        assert_eq!(imported.sources, [Some(0), Some(1), Some(1), Some(2)]);
    }
}

#[test]
fn call_with_a_block_is_converted_once() {
    let blocks = json!([
        {"type": "reasoning", "id": "rs_1", "summary": [], "index": 0},
        {"type": "text", "text": "hi", "id": "msg_1", "annotations": [], "index": 1},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}",
            "index": 2}
    ]);
    let list = json!([{"type": "ai", "content": blocks, "tool_calls": [call()]}]);
    let expected = json!([
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "message", "id": "msg_1", "role": "assistant",
            "content": [{"type": "output_text", "text": "hi", "annotations": []}]},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f",
            "arguments": "{}"},
    ]);
    assert_eq!(json!(values(&imported(&list))), expected);
}

#[test]
fn older_calls_are_found_in_additional_kwargs() {
    let raw =
        json!({"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let list = json!([{"type": "ai", "content": "", "additional_kwargs": {"tool_calls": [raw]}}]);
    let call =
        json!({"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"});
    assert_eq!(values(&imported(&list)), [call]);
}

#[test]
fn user_blocks_become_parts_and_outputs() {
    let list = json!([{"type": "human", "content": [
        {"type": "tool_result", "tool_use_id": "call_1", "content": "ok"},
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
        {"type": "image", "base64": "AA==", "mime_type": "image/jpeg"}
    ]}]);
    let expected = json!([
        {"type": "function_call_output", "call_id": "call_1", "output": "ok"},
        {"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "look"},
            {"type": "input_image", "image_url": "https://example.com/a.png"},
            {"type": "input_image", "image_url": "data:image/jpeg;base64,AA=="}
        ]}
    ]);
    assert_eq!(json!(values(&imported(&list))), expected);
}

#[test]
fn messages_without_an_equivalent_item_are_rejected() {
    for message in [
        json!({"type": "remove", "content": "", "id": "1"}),
        json!({"type": "function", "content": "x", "name": "f"}),
        json!({"type": "tool", "content": "x"}),
        json!({"lc": 1, "type": "constructor", "id": ["langchain", "prompts", "PromptTemplate"],
            "kwargs": {}}),
    ] {
        let sentence = refusal(&json!([message]));
        assert!(sentence.contains("a LangChain message, but cannot be read: "), "{sentence}");
    }
}

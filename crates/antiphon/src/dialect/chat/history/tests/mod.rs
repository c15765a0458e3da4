//! Chat Completions histories as items.

pub(in crate::dialect::chat) mod chats;
mod flaws;
mod laws;
mod older;

use serde_json::{Value, json};

use super::parse_items;
use crate::dialect::{Dialect, Seal};
use crate::transcript::Origin;

const HERE: &str = "server model";

/// The items of a history without a known origin.
fn items(messages: &Value) -> Value {
    let items = parse_items(messages.to_string().as_bytes(), None).unwrap();
    items.iter().map(|item| serde_json::from_str::<Value>(item.text()).unwrap()).collect()
}

fn sealed(content: &Value) -> String {
    let content = content.to_string();
    Seal { dialect: Dialect::Chat, origin: Origin::new(HERE), content }.to_text()
}

fn spoken(text: &str) -> Value {
    json!({"type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

fn function_call(call_id: &str) -> Value {
    json!({"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}"})
}

#[test]
fn each_role_becomes_a_message() {
    let messages = json!([{"role": "system", "content": "Be brief."},
        {"role": "developer", "content": "Be kind."}, {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "Hello."}]);
    let message = |role, text| json!({"type": "message", "role": role, "content": text});
    let expected = json!([
        message("system", "Be brief."),
        message("developer", "Be kind."),
        message("user", "hi"),
        spoken("Hello.")
    ]);
    assert_eq!(items(&messages), expected);
}

#[test]
fn parts_become_item_parts() {
    let messages = json!([{"role": "user", "content": [
        {"type": "text", "text": "see", "cache_control": {"type": "ephemeral"}},
        {"type": "image_url", "image_url": {"url": "https://a/b.png", "detail": "low"}},
        {"type": "image_url", "image_url": "https://a/c.png"},
        {"type": "file", "file": {"file_data": "data:x", "filename": "a.pdf"}},
        {"type": "file", "file": {"file_id": "file_1"}},
        {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}]}]);
    let expected = json!([
        {"type": "input_text", "text": "see", "cache_control": {"type": "ephemeral"}},
        {"type": "input_image", "image_url": "https://a/b.png", "detail": "low"},
        {"type": "input_image", "image_url": "https://a/c.png"},
        {"type": "input_file", "file_data": "data:x", "filename": "a.pdf"},
        {"type": "input_file", "file_id": "file_1"},
        {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}]);
    assert_eq!(items(&messages)[0]["content"], expected);
}

#[test]
fn turn_becomes_text_and_calls() {
    let messages = json!([{"role": "assistant", "content": "Looking.", "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        {"id": "call_2", "type": "custom", "custom": {"name": "run", "input": "ls"}}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "1"},
        {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "2"}]}]);
    let expected = json!([spoken("Looking."), function_call("call_1"),
        {"type": "custom_tool_call", "call_id": "call_2", "name": "run", "input": "ls"},
        {"type": "function_call_output", "call_id": "call_1", "output": "1"},
        {"type": "custom_tool_call_output", "call_id": "call_2",
            "output": [{"type": "input_text", "text": "2"}]}]);
    assert_eq!(items(&messages), expected);
}

#[test]
fn calls_without_text_make_no_message() {
    for content in [Value::Null, json!(""), json!([])] {
        let messages = json!([{"role": "assistant", "content": content, "tool_calls": [
            {"id": "call_1", "function": {"name": "f", "arguments": "{}"}}]}]);
        assert_eq!(items(&messages), json!([function_call("call_1")]));
    }
}

#[test]
fn empty_answer_becomes_a_message() {
    let messages = json!([{"role": "assistant", "content": "", "tool_calls": null}]);
    let expected = json!([{"type": "message", "role": "assistant", "content": []}]);
    assert_eq!(items(&messages), expected);
}

#[test]
fn refusal_becomes_a_part() {
    let refusal = json!([{"type": "refusal", "refusal": "I cannot."}]);
    let as_field = json!([{"role": "assistant", "content": null, "refusal": "I cannot."}]);
    assert_eq!(items(&as_field)[0]["content"], refusal);
    let as_part = json!([{"role": "assistant", "content": refusal}]);
    assert_eq!(items(&as_part)[0]["content"], refusal);
}

#[test]
fn reasoning_item_precedes_its_output() {
    let messages = json!([{"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."}]);
    let expected = json!([{"type": "reasoning", "summary": [],
        "content": [{"type": "reasoning_text", "text": "Hm."}]}, spoken("Yes.")]);
    assert_eq!(items(&messages), expected);
}

#[test]
fn reasoning_is_sealed_for_its_origin() {
    let fields = json!({"reasoning": "Hm.", "reasoning_details": [{"type": "reasoning.text"}]});
    let mut message = json!({"role": "assistant", "content": "Yes."});
    message.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let messages = json!([message]).to_string();
    let items = parse_items(messages.as_bytes(), Some(&Origin::new(HERE))).unwrap();
    let content = items[0].object().string("encrypted_content").map(String::from);
    assert_eq!(content, Some(sealed(&fields)));
}

#[test]
fn texts_keep_their_bytes() {
    let messages = br#"[{"role":"user","content":"\u00fc\/"}]"#;
    let items = parse_items(messages, None).unwrap();
    assert_eq!(items[0].text(), r#"{"type":"message","role":"user","content":"\u00fc\/"}"#);
}

//! The fields for each kind of item. Every case is written as a stream and as one completion.

use serde_json::{Value, json};

use super::world::{call, completed, convert, convert_chat, items, message, origin};
use crate::dialect::{Dialect, Seal};
use crate::transcript::Origin;

/// The message of a completed answer with these items.
fn written(received: &[Value]) -> Value {
    convert(&items(received, &completed())).message().clone()
}

fn reasoning(fields: &Value) -> Value {
    let mut item = json!({"type": "reasoning", "id": "rs_1", "summary": []});
    let fields = fields.as_object().unwrap().clone();
    item.as_object_mut().unwrap().extend(fields);
    item
}

fn summary(text: &str) -> Value {
    json!([{"type": "summary_text", "text": text}])
}

#[test]
fn parts_are_one_text_and_messages_are_separate() {
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let mut parts = message("");
    parts["content"] = json!([part("One."), part(""), part("Two.")]);
    let mut other = message("Three.");
    other["id"] = json!("msg_2");
    assert_eq!(written(&[parts, other])["content"], "One.Two.\n\nThree.");
}

#[test]
fn refusal_has_its_own_field() {
    let mut message = message("");
    message["content"] = json!([{"type": "refusal", "refusal": "I can't."}]);
    let message = written(&[message]);
    assert_eq!((&message["content"], &message["refusal"]), (&json!(null), &json!("I can't.")));
}

#[test]
fn custom_tool_call_has_its_input() {
    let text = "say \"hi\"\n\\ \u{1f600}";
    let item = json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1",
        "name": "shell", "input": text, "status": "completed"});
    let entry =
        json!([{"id": "call_1", "type": "custom", "custom": {"name": "shell", "input": text}}]);
    assert_eq!(written(&[item])["tool_calls"], entry);
}

#[test]
fn shared_call_id_yields_two_ids() {
    let custom = json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1",
        "name": "shell", "input": "ls", "status": "completed"});
    let calls = written(&[call("call_1", "{}"), custom])["tool_calls"].clone();
    assert_eq!((&calls[0]["id"], &calls[1]["id"]), (&json!("call_1"), &json!("ctc_1")));
}

#[test]
fn reasoning_text_is_streamed() {
    let item = reasoning(&json!({"summary": summary("Hm."),
        "content": [{"type": "reasoning_text", "text": "Well."}]}));
    assert_eq!(written(&[item, message("Hi")])["reasoning_content"], "Hm.\n\nWell.");
}

#[test]
fn encrypted_content_becomes_sealed_detail() {
    let item = reasoning(&json!({"encrypted_content": "gAAAAABm", "summary": summary("Hm")}));
    let message = written(&[item, message("Hi")]);
    let data = Seal::from_encrypted("gAAAAABm", origin()).to_text();
    let detail = json!([{"type": "reasoning.encrypted", "id": message["reasoning_details"][0]["id"],
        "data": data, "format": "antiphon-v1", "index": 0}]);
    assert_eq!(message["reasoning_details"], detail);
    assert_eq!(message["reasoning_content"], "Hm");
}

#[test]
fn seal_of_chat_server_keeps_its_fields() {
    let details = json!([{"type": "reasoning.text", "text": "Hm", "signature": "EqQB"}]);
    let content = json!({"reasoning_content": "Hm", "reasoning_details": details});
    let seal = |content: &Value| {
        let origin = Origin::new("o");
        Seal { dialect: Dialect::Chat, origin, content: content.to_string() }.to_text()
    };
    let item = reasoning(&json!({"encrypted_content": seal(&content), "summary": summary("Hm")}));
    assert_eq!(written(&[item, message("Hi")])["reasoning_details"], details);
    // A message has no other form of these fields.
    let other = reasoning(&json!({"encrypted_content": seal(&json!({"reasoning": "Hm"}))}));
    let detail = written(&[other, message("Hi")])["reasoning_details"][0].clone();
    assert_eq!(detail["data"], seal(&json!({"reasoning": "Hm"})));
}

#[test]
fn signed_call_keeps_its_extra_content() {
    let extra = json!({"google": {"thought_signature": "AB"}});
    let chunk = |delta: &Value, reason: Value| {
        json!({"id": "c", "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
    };
    let called = json!({"tool_calls": [{"index": 0, "id": "call_1", "type": "function",
        "function": {"name": "look", "arguments": "{}"}, "extra_content": extra}]});
    let chunks = [chunk(&called, Value::Null), chunk(&json!({}), json!("tool_calls"))];
    let entry = convert_chat(&chunks).message()["tool_calls"][0].clone();
    assert_eq!(entry["extra_content"], extra);
}

#[test]
fn citation_index_counts_from_content() {
    let mut second = message("Rust");
    second["id"] = json!("msg_2");
    let note = json!({"type": "url_citation", "url": "https://a.example", "title": "A",
        "start_index": 0, "end_index": 4});
    let file = json!({"type": "file_citation", "file_id": "file_1", "filename": "f", "index": 0});
    second["content"][0]["annotations"] = json!([note, file]);
    let citation = json!([{"type": "url_citation", "url_citation":
        {"start_index": 5, "end_index": 9, "title": "A", "url": "https://a.example"}}]);
    assert_eq!(written(&[message("Où\u{1f600}"), second])["annotations"], citation);
}

#[test]
fn logprobs_have_their_bytes() {
    let mut text = message("é");
    let token = json!({"token": "é", "logprob": -0.5, "top_logprobs": [
        {"token": "e", "logprob": -2.0}]});
    text["content"][0]["logprobs"] = json!([token]);
    let written = convert(&items(&[text], &completed()));
    let expected = json!({"refusal": null, "content": [{"token": "é", "logprob": -0.5,
        "bytes": [195, 169],
        "top_logprobs": [{"token": "e", "logprob": -2.0, "bytes": [101]}]}]});
    assert_eq!(written.folded["choices"][0]["logprobs"], expected);
    assert_eq!(written.streamed, written.folded);
}

#[test]
fn unsupported_items_have_no_form() {
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed",
        "action": {"type": "search", "query": "rust"}});
    let received = written(&[search, message("Found.")]);
    assert_eq!(
        received,
        json!({"role": "assistant", "content": "Found.", "refusal": null,
        "annotations": []})
    );
}

//! What becomes of each kind of item. Every case is told as a stream and in one piece.

use serde_json::{Value, json};

use super::world::{
    added, call, completed, created, delta, done, items, message, writes, writes_in,
};
use crate::dialect::{Dialect, Seal};
use crate::stream::Form;
use crate::transcript::Origin;

/// The blocks of a completed answer of these items.
fn content(told: &[Value]) -> Value {
    let written = writes(&items(told, &completed()));
    assert_eq!(written.streamed, written.folded);
    written.streamed["content"].clone()
}

fn reasoning(fields: &Value) -> Value {
    let mut item = json!({"type": "reasoning", "id": "rs_1", "summary": []});
    let fields = fields.as_object().unwrap().clone();
    item.as_object_mut().unwrap().extend(fields);
    item
}

fn sealed(dialect: Dialect, block: &Value) -> Value {
    let seal = Seal { dialect, origin: Origin::new("o"), content: block.to_string() };
    json!({"encrypted_content": seal.to_text()})
}

#[test]
fn every_part_of_a_message_that_says_something_is_a_text_block() {
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let mut message = message("");
    message["content"] = json!([part("One."), part(""), part("Two.")]);
    let text = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(content(&[message]), json!([text("One."), text("Two.")]));
}

#[test]
fn a_refusal_is_text_and_the_reason_to_stop() {
    let mut message = message("");
    message["content"] = json!([{"type": "refusal", "refusal": "I can't."}]);
    let written = writes(&items(&[message], &completed()));
    assert_eq!(written.content()[0], json!({"type": "text", "text": "I can't."}));
    assert_eq!(written.streamed["stop_reason"], "refusal");
}

#[test]
fn a_piece_of_text_is_passed_on_in_the_escapes_that_it_came_with() {
    let raw = r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"\u00e9\/"}"#;
    let mut writer = super::super::Writer::new();
    let event = |kind: &'static str, data: &str| crate::stream::Event {
        kind: kind.into(),
        data: data.to_owned().into(),
    };
    let announced = r#"{"output_index":0,"item":{"type":"message"}}"#;
    writer.event(&event("response.output_item.added", announced));
    let told = writer.event(&event("response.output_text.delta", raw));
    let expected = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\u00e9\/"}}"#;
    assert_eq!(str::from_utf8(&told[1].data).unwrap(), expected);
}

#[test]
fn reasoning_that_anthropic_signed_keeps_its_signature() {
    let block = json!({"type": "thinking", "thinking": "Hm", "signature": "EqQB"});
    let mut item = reasoning(&sealed(Dialect::Anthropic, &block));
    item["content"] = json!([{"type": "reasoning_text", "text": "Hm"}]);
    assert_eq!(content(&[item]), json!([block]));
}

#[test]
fn reasoning_that_another_provider_encrypted_has_that_for_its_signature() {
    let item = reasoning(&json!({"encrypted_content": "gAAAAABm",
        "summary": [{"type": "summary_text", "text": "Hm"}]}));
    let block = json!({"type": "thinking", "thinking": "Hm", "signature": "gAAAAABm"});
    assert_eq!(content(&[item]), json!([block]));
}

#[test]
fn reasoning_of_another_dialect_has_its_seal_for_its_signature() {
    let fields = sealed(Dialect::Chat, &json!({"reasoning_content": "Hm"}));
    let block =
        json!({"type": "thinking", "thinking": "", "signature": fields["encrypted_content"]});
    assert_eq!(content(&[reasoning(&fields)]), json!([block]));
}

#[test]
fn redacted_thinking_is_the_block_that_it_was() {
    let block = json!({"type": "redacted_thinking", "data": "EmwK"});
    let item = reasoning(&sealed(Dialect::Anthropic, &block));
    assert_eq!(content(&[item]), json!([block]));
}

#[test]
fn the_parts_of_reasoning_are_paragraphs() {
    let summary = |text: &str| json!({"type": "summary_text", "text": text});
    let item = reasoning(&json!({"summary": [summary("One."), summary("Two.")],
        "content": [{"type": "reasoning_text", "text": "Three."}]}));
    assert_eq!(content(&[item])[0]["thinking"], "One.\n\nTwo.\n\nThree.");
}

#[test]
fn reasoning_that_says_nothing_and_seals_nothing_is_nothing() {
    assert_eq!(content(&[reasoning(&json!({}))]), json!([]));
}

#[test]
fn raw_reasoning_is_told_by_either_name_of_its_event() {
    let item = reasoning(&json!({}));
    let events = [created(), added(0, &item), delta("reasoning_text", 0, "Hm"), completed()];
    for form in [Form::OpenAi, Form::OpenResponses] {
        assert_eq!(writes_in(form, &events).content()[0]["thinking"], "Hm");
    }
}

#[test]
fn a_function_call_is_a_tool_use() {
    let block = |input: Value| json!([{"type": "tool_use", "id": "call_1", "name": "look", "input": input}]);
    assert_eq!(content(&[call("call_1", r#"{"at": [1, "x"]}"#)]), block(json!({"at": [1, "x"]})));
    assert_eq!(content(&[call("call_1", "{}")]), block(json!({})));
    assert_eq!(content(&[call("call_1", "")]), block(json!({})));
}

#[test]
fn arguments_that_are_no_object_are_not_taken_for_none() {
    for arguments in [r#"{"at": "#, "[1]", "null"] {
        let input = json!({"_raw": arguments});
        assert_eq!(content(&[call("call_1", arguments)])[0]["input"], input, "{arguments}");
    }
}

#[test]
fn a_custom_tool_call_is_a_tool_use_whose_input_is_its_text() {
    let text = "say \"hi\"\n\\ \u{1f600}";
    let item = json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1",
        "name": "shell", "input": text, "status": "completed"});
    let block =
        json!({"type": "tool_use", "id": "call_1", "name": "shell", "input": {"input": text}});
    assert_eq!(content(&[item]), json!([block]));
}

#[test]
fn a_function_and_a_custom_tool_under_one_call_id_are_two_tool_uses() {
    let custom = json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1",
        "name": "shell", "input": "ls", "status": "completed"});
    let content = content(&[call("call_1", "{}"), custom]);
    assert_eq!((&content[0]["id"], &content[1]["id"]), (&json!("call_1"), &json!("ctc_1")));
}

#[test]
fn a_call_that_is_announced_twice_is_one_tool_use() {
    let announced = call("call_1", "");
    let mut again = announced.clone();
    again["id"] = json!("fc_other");
    let whole = call("call_1", r#"{"at":1}"#);
    let events = [created(), added(0, &announced), added(1, &again), done(0, &whole), completed()];
    let written = writes(&events);
    assert_eq!(written.content().len(), 1);
    assert_eq!(written.content()[0]["input"], json!({"at": 1}));
}

#[test]
fn a_url_citation_is_a_citation_of_its_block() {
    let mut message = message("Rust");
    let note = json!({"type": "url_citation", "url": "https://a.example", "title": "A",
        "start_index": 0, "end_index": 4});
    let file = json!({"type": "file_citation", "file_id": "file_1", "filename": "f", "index": 0});
    message["content"][0]["annotations"] = json!([note, file]);
    let citation = json!({"type": "web_search_result_location", "cited_text": "",
        "encrypted_index": "", "title": "A", "url": "https://a.example"});
    assert_eq!(
        content(&[message]),
        json!([{"type": "text", "text": "Rust", "citations": [citation]}])
    );
}

#[test]
fn an_extension_of_anthropic_is_the_block_that_it_holds() {
    let called = json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search",
        "input": {"query": "rust"}});
    let result =
        json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []});
    let item = |block: &Value| {
        let kind = format!("anthropic:{}", block["type"].as_str().unwrap());
        json!({"type": kind, "id": "item_1", "status": "completed", "content": block})
    };
    assert_eq!(content(&[item(&called), item(&result)]), json!([called, result]));
}

#[test]
fn an_extension_that_holds_no_such_block_is_nothing() {
    let item = json!({"type": "anthropic:acme", "id": "item_1", "content": {"type": "text"}});
    assert_eq!(content(&[item]), json!([]));
}

#[test]
fn items_that_a_message_cannot_hold_are_nothing() {
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed",
        "action": {"type": "search", "query": "rust"}});
    let told = content(&[search, message("Found.")]);
    assert_eq!(told, json!([{"type": "text", "text": "Found."}]));
}

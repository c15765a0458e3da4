//! The blocks for each kind of item. Every case is written as a stream and as one message.

use serde_json::{Value, json};

use super::world::{
    added, call, completed, convert, convert_in, created, delta, done, items, message,
};
use crate::dialect::{Dialect, Seal};
use crate::stream::Form;
use crate::transcript::Origin;

/// The blocks of a completed answer with these items.
fn content(received: &[Value]) -> Value {
    let written = convert(&items(received, &completed()));
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
fn nonempty_message_parts_become_text_blocks() {
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let mut message = message("");
    message["content"] = json!([part("One."), part(""), part("Two.")]);
    let text = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(content(&[message]), json!([text("One."), text("Two.")]));
}

#[test]
fn refusal_becomes_text_and_stop_reason() {
    let mut message = message("");
    message["content"] = json!([{"type": "refusal", "refusal": "I can't."}]);
    let written = convert(&items(&[message], &completed()));
    assert_eq!(written.content()[0], json!({"type": "text", "text": "I can't."}));
    assert_eq!(written.streamed["stop_reason"], "refusal");
}

#[test]
fn text_delta_keeps_its_escapes() {
    let raw = concat!(
        r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"#,
        r#""delta":"\u00e9\/"}"#,
    );
    let mut writer = super::super::AnthropicWriter::new(None);
    let event = |kind: &'static str, data: &str| crate::stream::Event {
        kind: kind.into(),
        data: data.to_owned().into(),
    };
    let announced = r#"{"output_index":0,"item":{"type":"message"}}"#;
    writer.event(&event("response.output_item.added", announced));
    let received = writer.event(&event("response.output_text.delta", raw));
    let expected = concat!(
        r#"{"type":"content_block_delta","index":0,"#,
        r#""delta":{"type":"text_delta","text":"\u00e9\/"}}"#,
    );
    assert_eq!(str::from_utf8(&received[1].data).unwrap(), expected);
}

#[test]
fn anthropic_reasoning_keeps_its_signature() {
    let block = json!({"type": "thinking", "thinking": "Hm", "signature": "EqQB"});
    let mut item = reasoning(&sealed(Dialect::Anthropic, &block));
    item["content"] = json!([{"type": "reasoning_text", "text": "Hm"}]);
    assert_eq!(content(&[item]), json!([block]));
}

#[test]
fn foreign_encrypted_content_becomes_signature() {
    let item = reasoning(&json!({"encrypted_content": "gAAAAABm",
        "summary": [{"type": "summary_text", "text": "Hm"}]}));
    let block = json!({"type": "thinking", "thinking": "Hm", "signature": "gAAAAABm"});
    assert_eq!(content(&[item]), json!([block]));
}

#[test]
fn foreign_seal_becomes_signature() {
    let fields = sealed(Dialect::Chat, &json!({"reasoning_content": "Hm"}));
    let block =
        json!({"type": "thinking", "thinking": "", "signature": fields["encrypted_content"]});
    assert_eq!(content(&[reasoning(&fields)]), json!([block]));
}

#[test]
fn redacted_thinking_is_returned_unchanged() {
    let block = json!({"type": "redacted_thinking", "data": "EmwK"});
    let item = reasoning(&sealed(Dialect::Anthropic, &block));
    assert_eq!(content(&[item]), json!([block]));
}

#[test]
fn reasoning_parts_become_paragraphs() {
    let summary = |text: &str| json!({"type": "summary_text", "text": text});
    let item = reasoning(&json!({"summary": [summary("One."), summary("Two.")],
        "content": [{"type": "reasoning_text", "text": "Three."}]}));
    assert_eq!(content(&[item])[0]["thinking"], "One.\n\nTwo.\n\nThree.");
}

#[test]
fn empty_unsealed_reasoning_has_no_block() {
    assert_eq!(content(&[reasoning(&json!({}))]), json!([]));
}

#[test]
fn both_raw_reasoning_events_are_written() {
    let item = reasoning(&json!({}));
    let events = [created(), added(0, &item), delta("reasoning_text", 0, "Hm"), completed()];
    for form in [Form::OpenAi, Form::OpenResponses] {
        assert_eq!(convert_in(form, &events).content()[0]["thinking"], "Hm");
    }
}

#[test]
fn function_call_becomes_tool_use() {
    let block = |input: Value| {
        json!([{"type": "tool_use", "id": "call_1", "name": "look",
            "input": input}])
    };
    assert_eq!(content(&[call("call_1", r#"{"at": [1, "x"]}"#)]), block(json!({"at": [1, "x"]})));
    assert_eq!(content(&[call("call_1", "{}")]), block(json!({})));
    assert_eq!(content(&[call("call_1", "")]), block(json!({})));
}

#[test]
fn invalid_arguments_are_not_replaced_by_none() {
    for arguments in [r#"{"at": "#, "[1]", "null"] {
        let input = json!({"_raw": arguments});
        assert_eq!(content(&[call("call_1", arguments)])[0]["input"], input, "{arguments}");
    }
}

#[test]
fn custom_tool_call_becomes_tool_use_with_text() {
    let text = "say \"hi\"\n\\ \u{1f600}";
    let item = json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1",
        "name": "shell", "input": text, "status": "completed"});
    let block =
        json!({"type": "tool_use", "id": "call_1", "name": "shell", "input": {"input": text}});
    assert_eq!(content(&[item]), json!([block]));
}

#[test]
fn shared_call_id_yields_two_tool_uses() {
    let custom = json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1",
        "name": "shell", "input": "ls", "status": "completed"});
    let content = content(&[call("call_1", "{}"), custom]);
    assert_eq!((&content[0]["id"], &content[1]["id"]), (&json!("call_1"), &json!("ctc_1")));
}

#[test]
fn call_announced_twice_is_one_tool_use() {
    let announced = call("call_1", "");
    let mut again = announced.clone();
    again["id"] = json!("fc_other");
    let whole = call("call_1", r#"{"at":1}"#);
    let events = [created(), added(0, &announced), added(1, &again), done(0, &whole), completed()];
    let written = convert(&events);
    assert_eq!(written.content().len(), 1);
    assert_eq!(written.content()[0]["input"], json!({"at": 1}));
}

#[test]
fn url_citation_becomes_block_citation() {
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
fn anthropic_extension_becomes_its_block() {
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
fn extension_with_wrong_block_is_left_out() {
    let item = json!({"type": "anthropic:acme", "id": "item_1", "content": {"type": "text"}});
    assert_eq!(content(&[item]), json!([]));
}

#[test]
fn unsupported_items_have_no_block() {
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed",
        "action": {"type": "search", "query": "rust"}});
    let received = content(&[search, message("Found.")]);
    assert_eq!(received, json!([{"type": "text", "text": "Found."}]));
}

//! Anthropic messages as items.

use serde_json::{Value, json};

use super::{AnthropicHistoryError, parse_items};
use crate::dialect::anthropic;
use crate::dialect::request::Request;
use crate::dialect::{Dialect, Seal};
use crate::item::Item;
use crate::json::Object;
use crate::transcript::Origin;

fn origin() -> Origin {
    Origin::new("api.anthropic.com claude")
}

fn values(items: &[Item]) -> Value {
    items.iter().map(|item| serde_json::from_slice::<Value>(item.raw()).unwrap()).collect()
}

/// The items of these messages, without a known origin.
fn items(messages: &Value) -> Value {
    values(&parse_items(messages.to_string().as_bytes(), None, None).unwrap())
}

fn convert_user_block(block: &Value) -> Value {
    items(&json!([{"role": "user", "content": [block]}]))
}

fn convert_assistant_block(block: &Value) -> Value {
    items(&json!([{"role": "assistant", "content": [block]}]))
}

fn error(messages: &Value) -> String {
    parse_items(messages.to_string().as_bytes(), None, None).unwrap_err().to_string()
}

fn message(role: &str, parts: &Value) -> Value {
    json!({"type": "message", "role": role, "content": parts})
}

fn input(text: &str) -> Value {
    json!({"type": "input_text", "text": text})
}

fn output(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[test]
fn text_becomes_message_with_one_part() {
    let messages =
        json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]);
    let expected = json!([
        message("user", &json!([input("hi")])),
        message("assistant", &json!([output("hello")]))
    ]);
    assert_eq!(items(&messages), expected);
}

#[test]
fn adjacent_blocks_become_one_message() {
    let messages = json!([{"role": "user", "content": [text("one"), text("two")]}]);
    assert_eq!(items(&messages), json!([message("user", &json!([input("one"), input("two")]))]));
}

#[test]
fn system_prompt_becomes_first_message() {
    let messages = br#"[{"role":"user","content":"hi"}]"#;
    for system in [r#""Be brief.""#, r#"[{"type":"text","text":"Be brief."}]"#] {
        let items = parse_items(messages, Some(system.as_bytes()), None).unwrap();
        assert_eq!(values(&items)[0], message("system", &json!([input("Be brief.")])));
    }
    for system in ["null", r#""""#, "[]"] {
        assert_eq!(
            parse_items(messages, Some(system.as_bytes()), None).unwrap().len(),
            1,
            "{system}"
        );
    }
}

#[test]
fn calls_and_results_become_items() {
    let messages = json!([
        {"role": "assistant", "content": [
            text("I look."),
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"},
            text("and?"),
        ]},
    ]);
    let expected = json!([
        message("assistant", &json!([output("I look.")])),
        {"type": "function_call", "call_id": "toolu_1", "name": "f", "arguments": "{\"a\":1}"},
        {"type": "function_call_output", "call_id": "toolu_1", "output": "done"},
        message("user", &json!([input("and?")])),
    ]);
    assert_eq!(items(&messages), expected);
}

#[test]
fn call_input_keeps_its_bytes() {
    let messages = concat!(
        r#"[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","#,
        r#""input":{ "n": 1e2, "a": "\u0041" }}]}]"#,
    );
    let items = parse_items(messages.as_bytes(), None, None).unwrap();
    assert_eq!(values(&items)[0]["arguments"], json!(r#"{ "n": 1e2, "a": "\u0041" }"#));
}

#[test]
fn result_holds_blocks_or_nothing() {
    let search = json!({"type": "search_result", "source": "a"});
    let image =
        json!({"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}});
    let result = json!({"type": "tool_result", "tool_use_id": "t",
        "content": [text("seen"), image, search]});
    let expected = json!([
        input("seen"),
        {"type": "input_image", "image_url": "https://example.com/a.png"},
        {"type": "anthropic:search_result", "content": search},
    ]);
    assert_eq!(convert_user_block(&result)[0]["output"], expected);
    let nothing = json!({"type": "tool_result", "tool_use_id": "t"});
    assert_eq!(convert_user_block(&nothing)[0]["output"], json!(""));
}

#[test]
fn images_and_documents_become_parts() {
    for (block, part) in [
        (
            json!({"type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}}),
            json!({"type": "input_image", "image_url": "data:image/png;base64,iVBORw=="}),
        ),
        (
            json!({"type": "image", "source": {"type": "file", "file_id": "file_1"}}),
            json!({"type": "input_image", "file_id": "file_1"}),
        ),
        (
            json!({"type": "document", "title": "a.pdf",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}}),
            json!({"type": "input_file", "file_data": "data:application/pdf;base64,JVBERi0=",
                "filename": "a.pdf"}),
        ),
        (
            json!({"type": "document", "title": null,
                "source": {"type": "text", "media_type": "text/plain", "data": "Grüße\n"}}),
            json!({"type": "input_file", "file_data": "data:text/plain;base64,R3LDvMOfZQo="}),
        ),
        (
            json!({"type": "document",
                "source": {"type": "url", "url": "https://example.com/a.pdf"}}),
            json!({"type": "input_file", "file_url": "https://example.com/a.pdf"}),
        ),
    ] {
        assert_eq!(convert_user_block(&block), json!([message("user", &json!([part]))]));
    }
}

#[test]
fn thinking_is_sealed_for_its_origin() {
    let raw = r#"{"type":"thinking","thinking":"h\u006d","signature":"EqQB"}"#;
    let messages = format!(r#"[{{"role":"assistant","content":[{raw}]}}]"#);
    let items = parse_items(messages.as_bytes(), None, Some(&origin())).unwrap();
    let item = &values(&items)[0];
    assert_eq!(item["content"], json!([{"type": "reasoning_text", "text": "hm"}]));
    let seal = Seal::parse(item["encrypted_content"].as_str().unwrap()).unwrap();
    let expected = Seal { dialect: Dialect::Anthropic, origin: origin(), content: raw.into() };
    assert_eq!(seal, expected);
}

#[test]
fn thinking_without_known_origin_keeps_only_text() {
    let block = json!({"type": "thinking", "thinking": "hm", "signature": "EqQB"});
    let content = json!([{"type": "reasoning_text", "text": "hm"}]);
    let expected = json!({"type": "reasoning", "summary": [], "content": content});
    assert_eq!(convert_assistant_block(&block), json!([expected]));
}

/// The writer gives a client the seal of another provider as a signature; the client returns it.
#[test]
fn seal_in_signature_is_returned_unchanged() {
    let content = r#"{"reasoning_content":"hm"}"#.to_owned();
    let seal = Seal { dialect: Dialect::Chat, origin: Origin::new("host m"), content }.to_text();
    let block = json!({"type": "thinking", "thinking": "hm", "signature": seal});
    let messages = json!([{"role": "assistant", "content": [block]}]).to_string();
    for origin in [None, Some(&origin())] {
        let items = parse_items(messages.as_bytes(), None, origin).unwrap();
        assert_eq!(values(&items)[0]["encrypted_content"], json!(seal));
    }
}

#[test]
fn unsigned_thinking_keeps_only_text() {
    let block = json!({"type": "thinking", "thinking": "hm", "signature": ""});
    let messages = json!([{"role": "assistant", "content": [block]}]).to_string();
    let items = values(&parse_items(messages.as_bytes(), None, Some(&origin())).unwrap());
    assert_eq!(items, convert_assistant_block(&block));
    assert!(items[0].get("encrypted_content").is_none());
}

#[test]
fn redacted_thinking_is_sealed_or_becomes_extension() {
    let block = json!({"type": "redacted_thinking", "data": "EmwK"});
    let messages = json!([{"role": "assistant", "content": [block]}]).to_string();
    let sealed = values(&parse_items(messages.as_bytes(), None, Some(&origin())).unwrap());
    assert_eq!(sealed[0]["type"], "reasoning");
    let seal = Seal::parse(sealed[0]["encrypted_content"].as_str().unwrap()).unwrap();
    assert_eq!(seal.content, block.to_string());
    let kept = json!({"type": "anthropic:redacted_thinking", "content": block});
    assert_eq!(convert_assistant_block(&block), json!([kept]));
}

#[test]
fn unknown_blocks_become_extension_items() {
    let search = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
    let expected = json!([{"type": "anthropic:server_tool_use", "content": search}]);
    assert_eq!(convert_assistant_block(&search), expected);
    let result = json!({"type": "search_result", "source": "a"});
    let expected = json!([{"type": "anthropic:search_result", "content": result, "role": "user"}]);
    assert_eq!(convert_user_block(&result), expected);
}

#[test]
fn error_names_path_of_invalid_message() {
    for (messages, place) in [
        (json!({"role": "user"}), "messages: "),
        (json!([{"role": "user", "content": "hi"}, 7]), "messages.1: "),
        (json!([{"role": "tool", "content": "hi"}]), "messages.0: 'tool'"),
        (json!([{"role": "user"}]), "messages.0: content"),
        (json!([{"role": "user", "content": 7}]), "messages.0: content"),
        (
            json!([{"role": "user", "content": [text("hi"), {"text": "hi"}]}]),
            "messages.0.content.1: type",
        ),
        (json!([{"role": "user", "content": [{"type": "text"}]}]), "messages.0.content.0: text"),
        (
            json!([{"role": "assistant",
                "content": [{"type": "tool_use", "id": "t", "name": "f", "input": "{}"}]}]),
            "messages.0.content.0: input",
        ),
        (
            json!([{"role": "assistant",
                "content": [{"type": "tool_result", "tool_use_id": "t"}]}]),
            "messages.0.content.0: a message with this role",
        ),
        (
            json!([{"role": "user", "content": [{"type": "image", "source": {"type": "url"}}]}]),
            "messages.0.content.0: source.url",
        ),
    ] {
        let error = error(&messages);
        assert!(error.starts_with(place), "{error}");
    }
}

#[test]
fn invalid_system_prompt_is_rejected() {
    let error = parse_items(b"[]", Some(b"7"), None).unwrap_err();
    assert!(matches!(error, AnthropicHistoryError::System { .. }), "{error}");
    let error = parse_items(b"[]", Some(br#"[{"type":"text"}]"#), None).unwrap_err();
    assert_eq!(error.to_string(), "system: block 0: text: field required");
}

#[test]
fn decoded_messages_encode_to_the_same_json() {
    let messages = json!([
        {"role": "user", "content": [
            text("look"),
            {"type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}},
            {"type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": "Grüße\n"}},
            {"type": "search_result", "source": "a", "title": "b", "content": []},
        ]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "EqQB"},
            {"type": "redacted_thinking", "data": "EmwK"},
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
            text("I look."),
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1",
                "content": [text("seen"), {"type": "tool_reference", "tool_name": "g"}]},
            text("and?"),
        ]},
    ]);
    let items = parse_items(messages.to_string().as_bytes(), None, Some(&origin())).unwrap();
    let fields = Object::parse(b"{}").unwrap();
    let request = Request { fields: &fields, items: &items, origin: &origin() };
    let body = anthropic::encode(request).unwrap().body;
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["messages"], messages);
}

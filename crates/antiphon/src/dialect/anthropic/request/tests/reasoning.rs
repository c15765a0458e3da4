//! Reasoning that is returned to the model.

use serde_json::{Value, json};

use super::{given, messages, origin, send, text};
use crate::dialect::{Dialect, Seal};
use crate::item::Item;
use crate::item::given::{bare_assistant, call, output, reasoning, user};
use crate::transcript::Origin;

const THINKING: &str = r#"{"type":"thinking","thinking":"a\u0041b","signature":"EqQB"}"#;
const REDACTED: &str = r#"{"type":"redacted_thinking","data":"EmwK"}"#;

fn sealed_by(dialect: Dialect, origin: Origin, content: &str) -> Item {
    let text = Seal { dialect, origin, content: content.to_owned() }.to_text();
    given(&json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": text}))
}

pub(super) fn sealed(content: &str) -> Item {
    sealed_by(Dialect::Anthropic, origin(), content)
}

fn block(raw: &str) -> Value {
    serde_json::from_str(raw).unwrap()
}

#[test]
fn own_thinking_is_returned_before_text() {
    let items = [
        user("hi"),
        sealed(THINKING),
        sealed(REDACTED),
        bare_assistant("I look."),
        call("call_1", "{}"),
        output("call_1", "1"),
    ];
    let content = &messages(&items)[1]["content"];
    assert_eq!(content[0], block(THINKING));
    assert_eq!(content[1], block(REDACTED));
    assert_eq!(content[2], text("I look."));
    assert_eq!(content[3]["type"], "tool_use");
}

#[test]
fn thinking_keeps_its_bytes() {
    let items = [user("hi"), sealed(THINKING), bare_assistant("hello")];
    let fields = crate::json::Object::parse(b"{}").unwrap();
    let origin = origin();
    let request = super::Request { fields: &fields, items: &items, origin: &origin };
    let body = super::encode(request).unwrap().body;
    assert!(std::str::from_utf8(&body).unwrap().contains(THINKING));
}

#[test]
fn thinking_between_call_rounds_keeps_its_position() {
    let items = [
        user("hi"),
        sealed(THINKING),
        call("call_1", "{}"),
        output("call_1", "1"),
        sealed(REDACTED),
        bare_assistant("Done."),
    ];
    assert_eq!(messages(&items)[3]["content"], json!([block(REDACTED), text("Done.")]));
}

#[test]
fn reasoning_from_other_origin_is_left_out() {
    for foreign in [
        sealed_by(Dialect::Anthropic, Origin::new("elsewhere"), THINKING),
        sealed_by(Dialect::Chat, origin(), r#"{"reasoning_content":"hm"}"#),
        reasoning("rs_2"),
        given(&json!({"type": "reasoning", "summary": [],
            "content": [{"type": "reasoning_text", "text": "hm"}]})),
    ] {
        let sent = send(&json!({}), &[user("hi"), foreign, bare_assistant("hello"), user("bye")]);
        assert_eq!(sent.messages()[1]["content"], json!([text("hello")]));
        assert_eq!(sent.reported, ["input[1]"]);
    }
}

#[test]
fn final_thinking_is_left_out() {
    let items = [
        user("hi"),
        bare_assistant("hello"),
        sealed(THINKING),
        bare_assistant(""),
        user("still there?"),
    ];
    let sent = send(&json!({}), &items);
    assert_eq!(sent.messages()[1]["content"], json!([text("hello")]));
    assert_eq!(sent.reported, ["input[2]"]);
}

#[test]
fn message_with_only_thinking_is_dropped() {
    let sent = send(&json!({}), &[user("hi"), sealed(THINKING), user("still there?")]);
    let expected = json!([{"role": "user", "content": [text("hi"), text("still there?")]}]);
    assert_eq!(sent.messages(), &expected);
    assert_eq!(sent.reported, ["input[1]"]);
}

/// "messages.1.content.0.thinking.signature: Field required"; an empty signature is invalid.
#[test]
fn unsigned_thinking_is_left_out() {
    for unsigned in [
        r#"{"type":"thinking","thinking":"Hm"}"#,
        r#"{"type":"thinking","thinking":"Hm","signature":""}"#,
        r#"{"type":"thinking","thinking":"Hm","signature":null}"#,
    ] {
        let sent =
            send(&json!({}), &[user("hi"), sealed(unsigned), bare_assistant("hello"), user("?")]);
        assert_eq!(sent.messages()[1]["content"], json!([text("hello")]));
        assert_eq!(sent.reported, ["input[1]"], "{unsigned}");
    }
}

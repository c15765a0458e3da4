//! Users' and assistants' messages.

use serde_json::json;

use super::{given, messages, refused, send, text, user_of};
use crate::item::given::{assistant, bare_assistant, user};

#[test]
fn user_and_assistant_messages_alternate() {
    let items = [user("hi"), assistant("msg_1", "hello"), user("bye")];
    let expected = json!([
        {"role": "user", "content": [text("hi")]},
        {"role": "assistant", "content": [text("hello")]},
        {"role": "user", "content": [text("bye")]},
    ]);
    assert_eq!(messages(&items), expected);
}

#[test]
fn adjacent_messages_of_one_role_merge() {
    let items =
        [user("one"), user("two"), bare_assistant("three"), bare_assistant("four"), user("five")];
    let expected = json!([
        {"role": "user", "content": [text("one"), text("two")]},
        {"role": "assistant", "content": [text("three"), text("four")]},
        {"role": "user", "content": [text("five")]},
    ]);
    assert_eq!(messages(&items), expected);
}

#[test]
fn blank_text_is_left_out() {
    let blank = json!([{"type": "input_text", "text": ""}, {"type": "input_text", "text": "hi"}]);
    let items = [user_of(&blank), bare_assistant("\u{a0}\n\t "), user("there")];
    assert_eq!(messages(&items), json!([{"role": "user", "content": [text("hi"), text("there")]}]));
}

#[test]
fn user_message_is_inserted_before_first_assistant_message() {
    let sent = send(&json!({}), &[bare_assistant("How can I help?"), user("hi")]);
    let expected = json!([
        {"role": "user", "content": [text("(The assistant speaks first.)")]},
        {"role": "assistant", "content": [text("How can I help?")]},
        {"role": "user", "content": [text("hi")]},
    ]);
    assert_eq!(sent.messages(), &expected);
    assert_eq!(sent.reported, ["input"]);
}

#[test]
fn final_assistant_message_is_trimmed_at_end() {
    let items = [user("hi"), bare_assistant("one \n"), bare_assistant("two\t\n ")];
    assert_eq!(messages(&items)[1]["content"], json!([text("one \n"), text("two")]));
}

#[test]
fn earlier_assistant_message_keeps_white_space() {
    let items = [user("hi"), bare_assistant("two\n "), user("bye")];
    assert_eq!(messages(&items)[1]["content"], json!([text("two\n ")]));
}

#[test]
fn text_keeps_its_bytes() {
    let raw = r#"{"role":"user","content":"a\u0041\/\ud83d\ude00"}"#;
    let fields = crate::json::Object::parse(b"{}").unwrap();
    let items = [crate::item::given::item(raw)];
    let origin = super::origin();
    let request = super::Request { fields: &fields, items: &items, origin: &origin };
    let body = super::encode(request).unwrap().body;
    assert!(std::str::from_utf8(&body).unwrap().contains(r#""a\u0041\/\ud83d\ude00""#));
}

#[test]
fn unknown_role_is_rejected() {
    let items = [user("hi"), given(&json!({"role": "critic", "content": "no"}))];
    assert_eq!(refused(&json!({}), &items).0, "input[1].role");
}

//! Requests for the judge, and assertions about refusals.

use antiphon_mock::judge::chat::validate;
use serde_json::{Value, json};

/// A request for a model that does not reason, with one tool of each kind.
pub(crate) fn request(messages: &Value) -> Value {
    json!({"model": "plain-model", "messages": messages, "tools": [
        {"type": "function", "function": {"name": "echo", "parameters": {"type": "object"}}},
        {"type": "custom", "custom": {"name": "grep"}},
    ]})
}

pub(crate) fn with(mut body: Value, field: &str, value: Value) -> Value {
    body[field] = value;
    body
}

pub(crate) fn without(mut body: Value, field: &str) -> Value {
    body.as_object_mut().expect("a request is an object").remove(field);
    body
}

pub(crate) fn hello() -> Value {
    request(&json!([user("hi")]))
}

pub(crate) fn user(content: &str) -> Value {
    json!({"role": "user", "content": content})
}

pub(crate) fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "echo", "arguments": "{}"}})
}

pub(crate) fn calling(calls: &[Value]) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

pub(crate) fn tool(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "done"})
}

#[track_caller]
pub(crate) fn accepted(body: &Value) {
    assert_eq!(validate(body), Ok(()), "{body}");
}

/// `expected`: param, code, message.
#[track_caller]
pub(crate) fn refused(body: &Value, expected: (Option<&str>, Option<&str>, &str)) {
    let refusal = validate(body).expect_err("the request deserves a refusal");
    let error = refusal.body()["error"].take();
    let (param, code, message) = expected;
    let kind = "invalid_request_error";
    assert_eq!(error, json!({"message": message, "type": kind, "param": param, "code": code}));
    assert_eq!(refusal.status.as_u16(), 400);
}

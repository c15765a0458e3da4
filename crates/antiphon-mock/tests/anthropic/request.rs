//! Requests for the judge, and assertions about refusals.

use antiphon_mock::judge::anthropic::validate;
use antiphon_mock::{Refusal, thinking_signature};
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

pub(crate) const MODEL: &str = "fake-model";

pub(crate) fn request(messages: &Value) -> Value {
    json!({"model": MODEL, "max_tokens": 4096, "messages": messages, "tools": [
        {"name": "echo", "input_schema": {"type": "object"}},
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

pub(crate) fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

pub(crate) fn assistant(content: impl Into<Value>) -> Value {
    json!({"role": "assistant", "content": content.into()})
}

pub(crate) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub(crate) fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "echo", "input": {}})
}

pub(crate) fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "done"})
}

pub(crate) fn thinking(thought: &str) -> Value {
    let signature = thinking_signature(MODEL, thought);
    json!({"type": "thinking", "thinking": thought, "signature": signature})
}

pub(crate) fn headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("x-api-key", HeaderValue::from_static("key-1"));
    headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    headers
}

#[track_caller]
pub(crate) fn accepted(body: &Value) {
    assert_eq!(validate(&headers(), body), Ok(()), "{body}");
}

#[track_caller]
pub(crate) fn refused(body: &Value, message: &str) {
    let refusal = validate(&headers(), body).expect_err("the request deserves a refusal");
    expect(&refusal, 400, "invalid_request_error", message);
}

#[track_caller]
pub(crate) fn expect(refusal: &Refusal, status: u16, kind: &str, message: &str) {
    let mut body = refusal.body();
    let request_id = body["request_id"].take();
    assert!(request_id.as_str().is_some_and(|id| id.starts_with("req_")), "{request_id}");
    let error = json!({"type": kind, "message": message});
    assert_eq!(body, json!({"type": "error", "error": error, "request_id": null}));
    assert_eq!(refusal.status.as_u16(), status);
}

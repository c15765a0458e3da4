//! Requests for the judge, and assertions about refusals.

use antiphon_mock::encrypted_content;
use antiphon_mock::judge::validate;
use serde_json::{Value, json};

pub(crate) const MODEL: &str = "fake-model";

pub(crate) const RS: &str = "rs_a1";

pub(crate) const REMOVE: &str = "Remove duplicate items from your input and try again.";

pub(crate) fn replay(input: &Value) -> Value {
    json!({
        "model": MODEL,
        "input": input,
        "store": false,
        "include": ["reasoning.encrypted_content"],
    })
}

pub(crate) fn with(mut body: Value, field: &str, value: Value) -> Value {
    body[field] = value;
    body
}

pub(crate) fn without(mut body: Value, field: &str) -> Value {
    body.as_object_mut().expect("a request is an object").remove(field);
    body
}

pub(crate) fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

pub(crate) fn assistant(id: &str) -> Value {
    let content = json!([{"type": "output_text", "text": "Hi.", "annotations": []}]);
    json!({"type": "message", "id": id, "role": "assistant", "status": "completed",
        "content": content})
}

pub(crate) fn reasoning(id: &str) -> Value {
    let sealed = encrypted_content(MODEL, id);
    json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": sealed})
}

pub(crate) fn call(id: &str, call_id: &str) -> Value {
    json!({"type": "function_call", "id": id, "call_id": call_id, "name": "echo",
        "arguments": "{}", "status": "completed"})
}

pub(crate) fn output(call_id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": call_id, "output": "done"})
}

/// An expected refusal: status, param, code, message.
pub(crate) type Expected<'a> = (u16, Option<&'a str>, Option<&'a str>, &'a str);

#[track_caller]
pub(crate) fn refused(body: &Value, (status, param, code, message): Expected<'_>) {
    let refusal = validate(body).expect_err("the request deserves a refusal");
    let shown = (refusal.status.as_u16(), refusal.param.as_deref(), refusal.code);
    assert_eq!((shown, refusal.message.as_str()), ((status, param, code), message));
    assert_eq!(refusal.kind, "invalid_request_error");
}

#[track_caller]
pub(crate) fn refused_input(input: &Value, message: &str) {
    refused(&replay(input), (400, Some("input"), None, message));
}

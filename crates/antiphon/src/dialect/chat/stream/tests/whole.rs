//! Answers that are not streamed.

use serde_json::{Value, json};

use super::{Server, called, named_call};
use crate::stream::Status;
use crate::stream::tests::world::ClientView;

fn answers(message: &Value, finish_reason: &Value) -> ClientView {
    Server::default().answers(&json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m-1",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    }))
}

#[test]
fn whole_answer_has_items_in_order() {
    let received = answers(
        &json!({
            "role": "assistant", "content": "Well.", "refusal": null,
            "reasoning_content": "Hm.",
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "call_2", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            ],
            "annotations": []
        }),
        &json!("tool_calls"),
    );

    let output = received.output();
    let kinds: Vec<&Value> = output.iter().map(|item| &item["type"]).collect();
    assert_eq!(kinds, ["reasoning", "message", "function_call", "function_call"]);
    assert_eq!(received.finished.status, Status::Completed);
    assert_eq!(received.last()["response"]["usage"]["total_tokens"], 3);
    assert_eq!(received.last()["response"]["model"], "m-1");
}

#[test]
fn whole_answer_ends_by_finish_reason() {
    let message = json!({"role": "assistant", "content": "Hel"});
    let status = |reason: Value| answers(&message, &reason).finished.status;
    assert_eq!(status(json!("stop")), Status::Completed);
    assert_eq!(status(json!(null)), Status::Completed);
    assert_eq!(status(json!("length")), Status::Incomplete);
    assert_eq!(status(json!("content_filter")), Status::Incomplete);
    assert_eq!(status(json!("error")), Status::Failed);
}

#[test]
fn whole_calls_with_missing_ids_are_decoded() {
    let received = answers(
        &json!({"content": "", "tool_calls": [
            {"function": {"name": "f", "arguments": {"a": 1}}},
            {"function": {"name": "f", "arguments": {"a": 1}}}
        ]}),
        &json!("stop"),
    );
    assert_eq!(called(&received), [named_call("f", "{\"a\":1}"), named_call("f", "{\"a\":1}")]);
}

#[test]
fn error_body_fails_answer() {
    let received = Server::default().answers(&json!({"error": {"message": "Oh.", "code": "oh"}}));
    let failure = received.finished.failure.as_ref().unwrap();
    assert_eq!((&*failure.code, &*failure.message), ("oh", "Oh."));
}

#[test]
fn object_without_choices_fails() {
    for body in [json!({}), json!({"choices": []}), json!({"detail": "Not Found"})] {
        assert_eq!(Server::default().answers(&body).finished.status, Status::Failed);
    }
}

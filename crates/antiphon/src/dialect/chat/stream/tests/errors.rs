//! Errors in a stream.

use serde_json::{Value, json};

use super::{decode, finish, text};
use crate::stream::Status;

fn failure(error: Value) -> (String, String) {
    let received = decode(&[text("Hel"), error, text("lo")]);
    assert_eq!(received.finished.status, Status::Failed, "{}", received.story());
    assert_eq!(super::message_text(&received), "Hel");
    let failure = received.finished.failure.unwrap();
    (failure.code, failure.message)
}

fn error(code: &str, message: &str) -> (String, String) {
    (code.to_owned(), message.to_owned())
}

#[test]
fn error_object_sets_code_and_message() {
    let body = json!({"error": {
        "message": "Slow down.", "type": "requests", "param": null, "code": "rate_limit_exceeded"
    }});
    assert_eq!(failure(body), error("rate_limit_exceeded", "Slow down."));
}

#[test]
fn error_type_replaces_missing_code() {
    let body = json!({"error": {"message": "Oh.", "type": "server_error", "code": null}});
    assert_eq!(failure(body), error("server_error", "Oh."));
}

#[test]
fn bare_vllm_error_fails_answer() {
    let body = json!({
        "object": "error", "message": "Too long.", "type": "BadRequestError", "param": null,
        "code": 400
    });
    assert_eq!(failure(body), error("BadRequestError", "Too long."));
}

/// OpenRouter sends an HTTP status as the code, and no type.
#[test]
fn http_status_code_becomes_error_code() {
    for (status, code) in [(429, "rate_limit_exceeded"), (502, "server_error"), (403, "403")] {
        let body = json!({"error": {"message": "No.", "code": status}});
        assert_eq!(failure(body), error(code, "No."));
    }
    let body = json!({"error": {"message": "No.", "code": "429"}});
    assert_eq!(failure(body), error("rate_limit_exceeded", "No."));
}

#[test]
fn error_type_replaces_unknown_status() {
    let body = json!({"error": {"message": "Oh.", "type": "server_error", "code": 500}});
    assert_eq!(failure(body), error("server_error", "Oh."));
}

#[test]
fn string_error_fails_answer() {
    let body = json!({"error": "model runner has unexpectedly stopped"});
    assert_eq!(failure(body), error("server_error", "model runner has unexpectedly stopped"));
}

#[test]
fn empty_error_fails_answer() {
    let (code, message) = failure(json!({"error": {"param": null}}));
    assert_eq!(code, "server_error");
    assert!(!message.is_empty());
}

#[test]
fn error_with_choice_follows_its_output() {
    let received = decode(&[
        text("Hel"),
        json!({
            "id": "gen-1", "model": "m-1", "provider": "P",
            "error": {"code": 502, "message": "Provider disconnected"},
            "choices": [{"index": 0, "delta": {"content": "lo"}, "finish_reason": "error"}]
        }),
    ]);
    assert_eq!(super::message_text(&received), "Hello");
    let failure = received.finished.failure.as_ref().unwrap();
    assert_eq!((&*failure.code, &*failure.message), ("server_error", "Provider disconnected"));
}

#[test]
fn error_in_choice_fails_answer() {
    let received = decode(&[json!({"model": "m-1", "choices": [{
        "index": 0, "delta": {"content": ""}, "finish_reason": "error",
        "error": {"code": 429, "message": "Rate limited"}
    }]})]);
    let failure = received.finished.failure.as_ref().unwrap();
    assert_eq!((&*failure.code, &*failure.message), ("rate_limit_exceeded", "Rate limited"));
}

#[test]
fn empty_error_values_are_ignored() {
    for none in [json!(null), json!(false), json!("")] {
        let mut chunk = text("Hello");
        chunk["error"] = none;
        assert_eq!(decode(&[chunk, finish("stop")]).finished.status, Status::Completed);
    }
}

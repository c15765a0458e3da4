//! Answers in one piece.

use serde_json::{Value, json};

use super::world::{hears, hears_whole, kinds, message_start, sealed};

fn message() -> Value {
    json!({"id": "msg_01", "type": "message", "role": "assistant", "model": "claude-up",
        "content": [
            {"type": "thinking", "thinking": "Hm", "signature": "EqQB"},
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": [1, 2]}},
            {"type": "tool_use", "id": "toolu_2", "name": "look", "input": {}}],
        "stop_reason": "tool_use", "stop_sequence": null,
        "usage": {"input_tokens": 3, "output_tokens": 4}})
}

#[test]
fn a_message_is_told_block_by_block() {
    let told = hears_whole(&message());
    assert_eq!(kinds(&told), ["reasoning", "message", "function_call", "function_call"]);
    let output = told.output();
    assert_eq!(sealed(&output[0]), message()["content"][0]);
    assert_eq!(output[1]["content"][0]["text"], "Let me look.");
    assert_eq!(output[2]["arguments"], r#"{"at":[1,2]}"#);
    assert_eq!(output[3]["arguments"], "{}");
    assert_eq!(told.last()["response"]["usage"]["total_tokens"], 7);
    assert_eq!(told.last()["response"]["model"], "claude-up");
}

#[test]
fn a_message_may_stand_in_a_stream() {
    assert_eq!(hears(&[message()]).output(), hears_whole(&message()).output());
}

#[test]
fn a_stream_may_start_with_the_content() {
    let mut started = message_start();
    started["message"]["content"] = json!([{"type": "text", "text": "Hi"}]);
    let told = hears(&[started, json!({"type": "message_stop"})]);
    assert_eq!(told.only_item()["content"][0]["text"], "Hi");
}

#[test]
fn a_message_without_content_blocks_is_an_answer() {
    let mut message = message();
    message["content"] = json!([]);
    message["stop_reason"] = json!("end_turn");
    let told = hears_whole(&message);
    assert!(told.output().is_empty());
    assert_eq!(told.last()["type"], "response.completed");
}

#[test]
fn an_error_in_place_of_a_message_fails_the_response() {
    let told = hears_whole(&json!({"type": "error",
        "error": {"type": "rate_limit_error", "message": "Slow down"}}));
    assert_eq!(told.last()["response"]["error"]["code"], "rate_limit_error");
}

#[test]
fn what_is_no_message_fails_the_response() {
    assert_eq!(hears_whole(&json!({"hello": 1})).last()["type"], "response.failed");
}

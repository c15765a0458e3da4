//! Answers that are not streamed.

use serde_json::{Value, json};

use super::world::{decode, decode_whole, kinds, message_start, sealed};

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
fn whole_message_is_emitted_block_by_block() {
    let received = decode_whole(&message());
    assert_eq!(kinds(&received), ["reasoning", "message", "function_call", "function_call"]);
    let output = received.output();
    assert_eq!(sealed(&output[0]), message()["content"][0]);
    assert_eq!(output[1]["content"][0]["text"], "Let me look.");
    assert_eq!(output[2]["arguments"], r#"{"at":[1,2]}"#);
    assert_eq!(output[3]["arguments"], "{}");
    assert_eq!(received.last()["response"]["usage"]["total_tokens"], 7);
    assert_eq!(received.last()["response"]["model"], "claude-up");
}

#[test]
fn whole_message_in_stream_is_decoded() {
    assert_eq!(decode(&[message()]).output(), decode_whole(&message()).output());
}

#[test]
fn message_start_can_hold_content() {
    let mut started = message_start();
    started["message"]["content"] = json!([{"type": "text", "text": "Hi"}]);
    let received = decode(&[started, json!({"type": "message_stop"})]);
    assert_eq!(received.only_item()["content"][0]["text"], "Hi");
}

#[test]
fn message_without_blocks_completes() {
    let mut message = message();
    message["content"] = json!([]);
    message["stop_reason"] = json!("end_turn");
    let received = decode_whole(&message);
    assert!(received.output().is_empty());
    assert_eq!(received.last()["type"], "response.completed");
}

#[test]
fn error_body_fails_response() {
    let received = decode_whole(&json!({"type": "error",
        "error": {"type": "rate_limit_error", "message": "Slow down"}}));
    assert_eq!(received.last()["response"]["error"]["code"], "rate_limit_error");
}

#[test]
fn body_without_message_fails_response() {
    assert_eq!(decode_whole(&json!({"hello": 1})).last()["type"], "response.failed");
}

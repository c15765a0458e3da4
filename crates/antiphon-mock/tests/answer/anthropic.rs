//! An answer in the form of Anthropic Messages.

use antiphon_mock::{Answer, Frame, thinking_signature};
use serde_json::{Value, json};

use crate::full_answer;

fn events(answer: &Answer) -> Vec<Value> {
    answer.anthropic().frames().iter().filter_map(Frame::json).collect()
}

/// The events of the block at `index`, including its start and its stop.
fn block(answer: &Answer, index: usize) -> Vec<Value> {
    events(answer).into_iter().filter(|event| event["index"] == index).collect()
}

fn delta(index: usize, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop_reason(answer: &Answer) -> Value {
    let events = events(answer);
    let [.., delta, stop] = events.as_slice() else { panic!("a stream has an end") };
    assert_eq!(stop, &json!({"type": "message_stop"}));
    assert_eq!(delta["type"], "message_delta");
    assert!(delta["usage"]["output_tokens"].is_u64());
    assert_eq!(delta["delta"]["stop_reason"], answer.anthropic().json()["stop_reason"]);
    delta["delta"]["stop_reason"].clone()
}

#[test]
fn every_frame_is_one_named_event() {
    for frame in full_answer().anthropic().frames() {
        let event = frame.json().expect("a frame holds JSON");
        assert_eq!(frame.name(), event["type"].as_str());
        let lines = format!("event: {}\ndata: {event}\n\n", frame.name().unwrap());
        assert_eq!(frame.bytes(), lines.as_bytes());
    }
}

#[test]
fn message_starts_empty_and_pings_within_a_block() {
    let answer = Answer::new("fake-model").message("Hi");
    let events = events(&answer);
    let message = &events[0]["message"];
    assert_eq!(events[0]["type"], "message_start");
    assert_eq!((&message["role"], &message["content"]), (&json!("assistant"), &json!([])));
    assert_eq!(message["stop_reason"], Value::Null);
    assert_eq!(message["usage"]["output_tokens"], 1);
    let names: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    let expected = [
        "message_start",
        "content_block_start",
        "ping",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ];
    assert_eq!(names, expected);
}

#[test]
fn thinking_block_ends_with_its_signature() {
    let answer = Answer::new("fake-model").reasoning("So so");
    let signature = thinking_signature("fake-model", "So so");
    let opened = json!({"type": "thinking", "thinking": "", "signature": ""});
    let expected = [
        json!({"type": "content_block_start", "index": 0, "content_block": opened}),
        delta(0, &json!({"type": "thinking_delta", "thinking": "So "})),
        delta(0, &json!({"type": "thinking_delta", "thinking": "so"})),
        delta(0, &json!({"type": "signature_delta", "signature": signature})),
        json!({"type": "content_block_stop", "index": 0}),
    ];
    assert_eq!(block(&answer, 0), expected);
    assert_eq!(block(&answer.without_encrypted_content(), 0).len(), 4);
}

#[test]
fn tool_input_is_streamed_as_json_pieces() {
    let answer = Answer::new("fake-model").message("Hi").call("toolu_1", "echo", r#"{"a": 1}"#);
    let opened = json!({"type": "tool_use", "id": "toolu_1", "name": "echo", "input": {}});
    let expected = [
        json!({"type": "content_block_start", "index": 1, "content_block": opened}),
        delta(1, &json!({"type": "input_json_delta", "partial_json": ""})),
        delta(1, &json!({"type": "input_json_delta", "partial_json": "{\"a\": "})),
        delta(1, &json!({"type": "input_json_delta", "partial_json": "1}"})),
        json!({"type": "content_block_stop", "index": 1}),
    ];
    assert_eq!(block(&answer, 1), expected);
}

#[test]
fn stop_reason_follows_the_ending() {
    let answer = || Answer::new("fake-model").message("Hi");
    assert_eq!(stop_reason(&answer()), "end_turn");
    assert_eq!(stop_reason(&answer().call("toolu_1", "echo", "{}")), "tool_use");
    assert_eq!(stop_reason(&answer().refusal("No.")), "refusal");
    assert_eq!(stop_reason(&answer().incomplete()), "max_tokens");
}

#[test]
fn failed_answer_ends_with_an_error() {
    let answer = Answer::new("fake-model").message("Hi").failed("overloaded_error", "Overloaded");
    let error = json!({"type": "overloaded_error", "message": "Overloaded"});
    assert_eq!(events(&answer).last(), Some(&json!({"type": "error", "error": error})));
}

#[test]
fn verbatim_block_is_sent_unchanged() {
    let search = json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search",
        "input": {"query": "x"}});
    let answer = Answer::new("fake-model").item(search.clone());
    assert_eq!(block(&answer, 0)[0]["content_block"], search);
    assert_eq!(block(&answer, 0).len(), 2);
    assert_eq!(answer.anthropic().json()["content"], json!([search]));
}

#[test]
fn json_form_contains_the_blocks() {
    let message = full_answer().anthropic().json();
    assert_eq!((&message["type"], &message["role"]), (&json!("message"), &json!("assistant")));
    let signature = thinking_signature("fake-model", "Two words");
    let content = json!([
        {"type": "thinking", "thinking": "Two words", "signature": signature},
        {"type": "tool_use", "id": "call_1", "name": "echo", "input": {"text": "a b"}},
        {"type": "tool_use", "id": "call_2", "name": "grep", "input": {"input": "a b"}},
        {"type": "text", "text": "Hello my friend"},
        {"type": "text", "text": "I will not"},
    ]);
    assert_eq!(message["content"], content);
    assert!(message["usage"]["output_tokens"].as_u64() > Some(1));
}

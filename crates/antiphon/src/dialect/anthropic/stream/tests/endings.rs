//! The end of answers, and their usage.

use serde_json::{Value, json};

use super::world::{
    answer, answers, call, decode, left_out, message_delta, message_start, message_stop, text,
    thinking,
};

#[test]
fn each_stop_reason_maps_to_status() {
    for (reason, status, details) in [
        ("end_turn", "completed", Value::Null),
        ("stop_sequence", "completed", Value::Null),
        ("tool_use", "completed", Value::Null),
        ("pause_turn", "completed", Value::Null),
        ("something_new", "completed", Value::Null),
        ("max_tokens", "incomplete", json!({"reason": "max_output_tokens"})),
        ("model_context_window_exceeded", "incomplete", json!({"reason": "max_output_tokens"})),
        ("refusal", "incomplete", json!({"reason": "content_filter"})),
    ] {
        let received = answers(reason, &[text(0, &["Hm"])]);
        let response = &received.last()["response"];
        assert_eq!(
            (&response["status"], &response["incomplete_details"]),
            (&json!(status), &details)
        );
    }
}

/// A refusal has its details in `stop_details`.
#[test]
fn refusal_details_are_left_out_and_reported() {
    let mut events = answer("refusal", &[text(0, &["Hm"])]);
    let last = events.len() - 2;
    events[last]["delta"]["stop_details"] = json!({"type": "refusal", "category": "cyber"});
    assert_eq!(left_out(&decode(&events)), ["stop_details"]);
}

#[test]
fn cache_tokens_count_as_input() {
    let mut events = answer("end_turn", &[text(0, &["Hi"])]);
    events[0]["message"]["usage"] = json!({"input_tokens": 10, "output_tokens": 1,
        "cache_read_input_tokens": 100, "cache_creation_input_tokens": 1000});
    let at = events.len() - 2;
    events[at]["usage"] = json!({"output_tokens": 7, "cache_read_input_tokens": 200});
    assert_eq!(
        decode(&events).last()["response"]["usage"],
        json!({"input_tokens": 1210,
            "input_tokens_details": {"cached_tokens": 200, "cache_write_tokens": 1000},
            "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 1217})
    );
}

#[test]
fn missing_counts_yield_no_usage() {
    let stop = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}});
    let events = [text(0, &["Hi"]), vec![stop, message_stop()]].concat();
    assert_eq!(decode(&events).last()["response"]["usage"], Value::Null);
}

#[test]
fn error_mid_stream_fails_response() {
    let error = json!({"type": "error", "request_id": "req_1",
        "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let events = [vec![message_start()], text(0, &["Hel"])[..2].to_vec(), vec![error]].concat();
    let received = decode(&events);
    let response = &received.last()["response"];
    assert_eq!(response["status"], "failed");
    assert_eq!(response["error"], json!({"code": "overloaded_error", "message": "Overloaded"}));
    assert_eq!(received.only_item()["status"], "incomplete");
    assert_eq!(received.only_item()["content"][0]["text"], "Hel");
}

#[test]
fn error_without_type_fails_response() {
    for error in [json!({"error": "no memory"}), json!({"type": "error", "message": "no memory"})] {
        let received = decode(&[message_start(), error]);
        assert_eq!(received.last()["response"]["error"]["message"], "no memory");
    }
}

#[test]
fn events_after_error_are_ignored() {
    let error = json!({"type": "error", "error": {"type": "api_error", "message": "Oops"}});
    let events = [vec![message_start(), error], answer("end_turn", &[text(0, &["Hi"])])].concat();
    assert!(decode(&events).output().is_empty());
}

#[test]
fn answer_without_message_stop_ends_after_stop_reason() {
    let mut events = answer("max_tokens", &[text(0, &["Hi"])]);
    events.pop();
    assert_eq!(decode(&events).last()["type"], "response.incomplete");
}

#[test]
fn answer_without_stop_reason_is_truncated() {
    let events = [vec![message_start()], text(0, &["Hi"])].concat();
    let received = decode(&events);
    assert_eq!(received.last()["type"], "response.failed");
    assert_eq!(received.last()["response"]["error"]["code"], "server_error");
}

#[test]
fn answer_without_message_delta_is_completed() {
    let events = [vec![message_start()], text(0, &["Hi"]), vec![message_stop()]].concat();
    assert_eq!(decode(&events).last()["type"], "response.completed");
}

#[test]
fn unstopped_block_ends_with_answer() {
    let mut events = answer("end_turn", &[thinking(0, &["Hm"], "EqQB"), text(1, &["Hi"])]);
    events.retain(|event| event["type"] != "content_block_stop");
    let output = decode(&events).output();
    assert!(output[0]["encrypted_content"].is_string());
    assert_eq!(output[1]["status"], "completed");
}

#[test]
fn last_message_delta_wins() {
    let mut events = [vec![message_start()], call(0, "toolu_1", &["{}"])].concat();
    events.push(json!({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 3}}));
    events.extend([message_delta("tool_use"), message_stop()]);
    let received = decode(&events);
    assert_eq!(received.last()["response"]["usage"]["output_tokens"], 15);
    assert_eq!(received.last()["type"], "response.completed");
}

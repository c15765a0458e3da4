//! How an answer ends.

use serde_json::{Value, json};

use super::{Server, calls, decode, finish, left_out, text, usage};
use crate::stream::{Note, Status};

fn reason_of(received: &crate::stream::tests::world::ClientView) -> &Value {
    &received.last()["response"]["incomplete_details"]
}

#[test]
fn stop_reasons_complete_the_answer() {
    for reason in ["stop", "tool_calls", "function_call", "eos", "stop_sequence", "Stop"] {
        let received = decode(&[text("Hello"), finish(reason)]);
        assert_eq!(received.finished.status, Status::Completed, "{reason}");
    }
}

#[test]
fn length_limit_yields_incomplete() {
    let received = decode(&[text("Hel"), finish("length")]);
    assert_eq!(received.finished.status, Status::Incomplete);
    assert_eq!(reason_of(&received), &json!({"reason": "max_output_tokens"}));
    assert_eq!(received.only_item()["status"], "incomplete");
}

#[test]
fn content_filter_yields_incomplete() {
    let received = decode(&[text("Hel"), finish("content_filter")]);
    assert_eq!(received.finished.status, Status::Incomplete);
    assert_eq!(reason_of(&received), &json!({"reason": "content_filter"}));
}

#[test]
fn only_last_item_is_incomplete_after_limit() {
    let call = |index: u64, arguments: &str| {
        calls(&json!([{"index": index, "id": format!("call_{index}"),
            "function": {"name": "f", "arguments": arguments}}]))
    };
    let received = decode(&[text("Well."), call(0, "{}"), call(1, "{\"a\":"), finish("length")]);
    let output = received.output();
    let status: Vec<&Value> = output.iter().map(|item| &item["status"]).collect();
    assert_eq!(status, ["completed", "completed", "incomplete"]);
}

#[test]
fn failure_reason_fails_the_answer() {
    for reason in ["abort", "error", "insufficient_system_resource"] {
        let received = decode(&[text("Hel"), finish(reason)]);
        let error = &received.last()["response"]["error"];
        assert_eq!(received.finished.status, Status::Failed, "{reason}");
        assert_eq!(error["code"], "server_error");
        assert!(error["message"].as_str().unwrap().contains(reason));
    }
}

#[test]
fn empty_finish_reason_is_ignored() {
    let received = decode(&[text("Hel"), finish(""), text("lo"), finish("length")]);
    assert_eq!(received.finished.status, Status::Incomplete);
    assert_eq!(super::message_text(&received), "Hello");
}

#[test]
fn done_without_reason_leaves_text_incomplete() {
    let received = decode(&[text("Hello")]);
    assert_eq!(received.finished.status, Status::Incomplete);
    assert_eq!(reason_of(&received), &Value::Null);
    assert_eq!(received.only_item()["status"], "incomplete");
    assert_eq!(received.finished.notes, [Note::FinishReasonMissing]);
}

#[test]
fn done_without_reason_leaves_call_incomplete() {
    let call = json!([{"index": 0, "id": "call_1", "function": {"name": "f", "arguments": "{}"}}]);
    let received = decode(&[text("Well."), calls(&call)]);
    assert_eq!(received.finished.status, Status::Incomplete);
    let output = received.output();
    let status: Vec<&Value> = output.iter().map(|item| &item["status"]).collect();
    assert_eq!(status, ["completed", "incomplete"]);
}

#[test]
fn done_before_output_is_ignored() {
    assert_eq!(decode(&[]).finished.status, Status::Failed);
}

#[test]
fn stream_without_reason_or_done_is_truncated() {
    let received = Server::without_done().says(&[text("Hel")]);
    assert_eq!(received.finished.status, Status::Failed);
    assert_eq!(received.only_item()["status"], "incomplete");
}

#[test]
fn stream_end_after_reason_completes() {
    let received = Server::without_done().says(&[text("Hello"), finish("stop")]);
    assert_eq!(received.finished.status, Status::Completed);
}

#[test]
fn output_after_finish_reason_is_decoded() {
    let counts = json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3});
    let received = decode(&[text("Hel"), finish("stop"), text("lo"), usage(&counts)]);
    assert_eq!(super::message_text(&received), "Hello");
    assert_eq!(received.last()["response"]["usage"]["total_tokens"], 3);
}

#[test]
fn empty_answer_completes() {
    let received = decode(&[finish("stop")]);
    assert_eq!(received.finished.status, Status::Completed);
    assert!(received.output().is_empty() && left_out(&received).is_empty());
}

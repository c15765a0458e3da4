//! The ends of responses.

use bytes::Bytes;
use serde_json::{Value, json};

use super::events::*;
use super::world::{NOW, World, hears, json as json_of};
use crate::stream::{Failure, Status};

#[test]
fn empty_stream_is_a_failed_response() {
    let received = hears(&[]);
    assert_eq!(received.kinds(), ["failed"]);
    assert_eq!(received.last()["response"]["error"]["code"], "server_error");
    assert_eq!(received.finished.status, Status::Failed);
}

#[test]
fn completed_response_has_completed_at() {
    let received = hears(&[created(), completed(&[])]);
    let response = &received.last()["response"];
    assert_eq!(
        (&response["status"], &response["completed_at"]),
        (&json!("completed"), &json!(NOW))
    );
    assert_eq!(response["id"], "resp_ours");
}

#[test]
fn broken_stream_closes_items_and_fails() {
    let received = hears(&[
        created(),
        added(0, &reasoning("rs_1", "", "")),
        added(1, &begun_message("msg_1")),
        part_added(1, "msg_1"),
        text_delta(1, "msg_1", "Hel"),
        added(2, &begun_call("fc_1", "call_1")),
        arguments_delta(2, "fc_1", r#"{"ci"#),
    ]);
    assert_eq!(received.last()["type"], "response.failed");
    assert_eq!(received.last()["response"]["incomplete_details"], Value::Null);
    let output = received.output();
    assert_eq!(output[1]["status"], "incomplete");
    assert_eq!(output[1]["content"], json!([text_part("Hel")]));
    assert_eq!(output[2]["status"], "incomplete");
    assert_eq!(output[2]["arguments"], r#"{"ci"#);
    let kept = received.kept();
    assert_eq!((&kept[0], &kept[2]), (&None, &None));
    assert_eq!(kept[1].as_ref().unwrap()["content"], json!([text_part("Hel")]));
}

#[test]
fn later_terminal_events_are_ignored() {
    let failed = json!({"type": "response.failed", "response": {"status": "failed", "error":
        {"code": "server_error", "message": "Too late."}}});
    let received = hears(&[created(), completed(&[]), failed, text_delta(0, "msg_1", "Hello")]);
    assert_eq!(received.kinds(), ["completed"]);
}

#[test]
fn events_after_the_end_are_ignored() {
    let mut assembler = World::default().assembler();
    assembler.apply_event(&completed(&[]).to_string().into()).unwrap();
    assert!(assembler.has_ended());
    assembler.apply_event(&Bytes::from_static(b"no JSON")).unwrap();
}

#[test]
fn lifecycle_events_are_emitted_once() {
    let queued = json!({"type": "response.queued", "response": {"id": "resp_up"}});
    let received = hears(&[
        in_progress(),
        created(),
        queued,
        created(),
        added(0, &begun_message("msg_1")),
        in_progress(),
        completed(&[message("msg_1", "Hi")]),
    ]);
    assert_eq!(received.events_named("created").len(), 1);
    assert_eq!(received.events_named("in_progress").len(), 1);
    assert!(received.events_named("queued").is_empty());
}

#[test]
fn error_event_in_any_form_fails_the_response() {
    let bare = json!({"type": "error", "code": "rate_limit_exceeded", "message": "Slow down."});
    let nested = json!({"type": "error", "error":
        {"code": "rate_limit_exceeded", "message": "Slow down."}});
    let untyped = json!({"error": {"code": "rate_limit_exceeded", "message": "Slow down."}});
    for event in [bare, nested, untyped] {
        let received = hears(&[created(), event]);
        let error = json!({"code": "rate_limit_exceeded", "message": "Slow down."});
        assert_eq!(received.last()["response"]["error"], error);
    }
    let received = hears(&[json!({"type": "error", "error": "It broke."})]);
    assert_eq!(received.last()["response"]["error"]["message"], "It broke.");
}

#[test]
fn failed_response_has_the_upstream_error() {
    let error = json!({"code": "content_filter", "message": "No."});
    let received = hears(&[json!({"type": "response.failed", "response":
        {"status": "failed", "error": error, "output": []}})]);
    assert_eq!(received.last()["response"]["error"], error);
    let failure = received.finished.failure.unwrap();
    assert_eq!((&*failure.code, &*failure.message), ("content_filter", "No."));

    let received = hears(&[json!({"type": "response.failed"})]);
    assert!(received.last()["response"]["error"]["message"].is_string());
}

#[test]
fn incomplete_response_has_details_and_incomplete_item() {
    let received = hears(&[
        added(0, &begun_message("msg_1")),
        text_delta(0, "msg_1", "Hel"),
        json!({"type": "response.incomplete", "response": {"status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"}, "output": []}}),
    ]);
    let response = &received.last()["response"];
    assert_eq!(response["incomplete_details"], json!({"reason": "max_output_tokens"}));
    assert_eq!(received.only_item()["status"], "incomplete");
    assert_eq!(received.finished.status, Status::Incomplete);
    assert!(received.kept()[0].is_some());
}

#[test]
fn response_status_overrides_completed_event() {
    let of = |status: &str| {
        let response = json!({"status": status, "output": []});
        let received = hears(&[json!({"type": "response.completed", "response": response})]);
        received.finished.status
    };
    assert_eq!(of("incomplete"), Status::Incomplete);
    assert_eq!(of("failed"), Status::Failed);
    assert_eq!(of("in_progress"), Status::Completed);
}

#[test]
fn response_done_counts_as_completed() {
    let event = json!({"type": "response.done", "response": {"status": "completed", "output": []}});
    assert_eq!(hears(&[event]).kinds(), ["completed"]);
}

#[test]
fn call_cut_by_token_limit_stays() {
    let mut cut = call("fc_1", "call_1", r#"{"ci"#);
    cut["status"] = json!("incomplete");
    let received = hears(&[
        added(0, &begun_call("fc_1", "call_1")),
        arguments_delta(0, "fc_1", r#"{"ci"#),
        done(0, &cut),
        json!({"type": "response.incomplete", "response": {"output": [cut]}}),
    ]);
    assert_eq!(received.only_item(), cut);
    assert_eq!(received.kept(), [Some(cut)]);
}

#[test]
fn final_items_of_failed_response_are_incomplete() {
    let mut begun = message("msg_1", "Hel");
    begun["status"] = json!("in_progress");
    for kind in ["failed", "incomplete"] {
        let response = json!({"status": kind, "output": [begun]});
        let received = hears(&[json!({"type": format!("response.{kind}"), "response": response})]);
        assert_eq!(received.only_item()["status"], "incomplete");
    }
}

#[test]
fn open_item_of_completed_response_is_completed() {
    let received = hears(&[
        added(0, &begun_call("fc_1", "call_1")),
        arguments_delta(0, "fc_1", "{}"),
        completed(&[]),
    ]);
    assert_eq!(received.only_item(), call("fc_1", "call_1", "{}"));
    assert_eq!(received.kept(), [Some(call("fc_1", "call_1", "{}"))]);
}

#[test]
fn failed_instead_keeps_the_sequence_number() {
    let received = hears(&[created(), completed(&[message("msg_1", "Hello")])]);
    let failure = Failure::server_error("The turn could not be stored.");
    let event = json_of(&received.finished.failed_instead(&failure));
    assert_eq!(event["type"], "response.failed");
    assert_eq!(event["sequence_number"], received.last()["sequence_number"]);
    let response = &event["response"];
    assert_eq!((&response["status"], &response["completed_at"]), (&json!("failed"), &Value::Null));
    assert_eq!(response["error"]["message"], "The turn could not be stored.");
}

#[test]
fn non_object_data_fails_and_non_events_are_ignored() {
    let mut assembler = World::default().assembler();
    for text in ["[1]", "7", "{\"type\":", "[DONE]"] {
        assert!(assembler.apply_event(&Bytes::from_static(text.as_bytes())).is_err(), "{text}");
    }
    for text in ["", "  ", "{}", r#"{"type":7}"#, r#"{"type":""}"#, r#"{"type":"a\nb"}"#] {
        assembler.apply_event(&Bytes::from_static(text.as_bytes())).unwrap();
    }
    assert_eq!(assembler.next_event(), None);
}

//! Responses that the upstream stores, with the upstream's identity.

use serde_json::{Value, json};

use super::checker::RESPONSE_KEYS;
use super::events::*;
use super::world::{ClientView, NOW, World};
use crate::stream::{Failure, Note};

/// Fields with the state in this gateway, which are always ours.
const STATE: [&str; 6] =
    ["object", "status", "completed_at", "incomplete_details", "error", "output"];

/// A provider's stored response, with a non-default value in every field.
fn kept() -> Value {
    json!({"id": "resp_theirs", "object": "response", "created_at": 1_600_000_000,
        "completed_at": null, "status": "in_progress", "incomplete_details": null,
        "model": "m-2026", "previous_response_id": "resp_before", "instructions": "Be brief.",
        "output": [], "error": null, "tools": [{"type": "web_search"}], "tool_choice": "none",
        "truncation": "auto", "parallel_tool_calls": false,
        "text": {"format": {"type": "text"}, "verbosity": "low"}, "top_p": 0.5,
        "presence_penalty": 0.1, "frequency_penalty": 0.2, "top_logprobs": 3, "temperature": 0.3,
        "reasoning": {"effort": "low", "summary": null}, "usage": null, "max_output_tokens": 99,
        "max_tool_calls": 7, "store": true, "background": false, "service_tier": "flex",
        "metadata": {"topic": "rain"}, "safety_identifier": "s1", "prompt_cache_key": "p1",
        "conversation": {"id": "conv_theirs"}, "billing": {"payer": "developer"}})
}

fn with(mut response: Value, fields: &Value) -> Value {
    for (key, value) in fields.as_object().unwrap() {
        response[key] = value.clone();
    }
    response
}

fn event(kind: &str, response: &Value) -> Value {
    json!({"type": kind, "response": response})
}

fn keeping() -> World {
    World::default().owned_by_upstream()
}

/// Runs a stream whose events hold only this response.
fn tells(response: &Value) -> ClientView {
    let ended = with(response.clone(), &json!({"status": "completed"}));
    keeping().hears(&[event("response.created", response), event("response.completed", &ended)])
}

#[test]
fn all_fields_but_state_are_the_upstreams() {
    let received = tells(&kept());
    for response in [&received.events[0]["response"], &received.last()["response"]] {
        let theirs = kept();
        let keys = RESPONSE_KEYS.iter().chain(&["conversation", "billing"]);
        for key in keys.filter(|key| !STATE.contains(key)) {
            assert_eq!(response[key], theirs[key], "{key}");
        }
    }
    assert_eq!(received.last()["response"]["status"], "completed");
    assert_eq!(received.last()["response"]["completed_at"], NOW);
}

#[test]
fn completed_at_is_the_upstreams() {
    let ended = with(kept(), &json!({"status": "completed", "completed_at": 1_600_000_007}));
    let streamed = [event("response.created", &kept()), event("response.completed", &ended)];
    for received in [keeping().hears(&streamed), keeping().hears_whole(&ended)] {
        assert_eq!(received.events[0]["response"]["completed_at"], Value::Null);
        assert_eq!(received.last()["response"]["completed_at"], 1_600_000_007);
    }
}

#[test]
fn whole_response_has_upstream_identity() {
    let reply = message("msg_1", "Hello.");
    let whole = with(kept(), &json!({"status": "completed", "output": [reply]}));
    let received = keeping().hears_whole(&whole);
    assert_eq!(received.events[0]["response"]["id"], "resp_theirs");
    assert_eq!(received.last()["response"]["conversation"], json!({"id": "conv_theirs"}));
    assert_eq!(received.only_item()["id"], "msg_1");
}

#[test]
fn missing_upstream_fields_echo_the_request() {
    let received = tells(&json!({"id": "resp_theirs", "created_at": null, "store": null,
        "metadata": null, "background": null}));
    let response = &received.last()["response"];
    assert_eq!(response["id"], "resp_theirs");
    assert_eq!(response["created_at"], 1_770_000_000);
    assert_eq!((&response["store"], &response["metadata"]), (&json!(true), &json!({})));
}

#[test]
fn emitted_response_id_never_changes() {
    let renamed = with(kept(), &json!({"id": "resp_other", "status": "completed"}));
    let received = keeping()
        .hears(&[event("response.created", &kept()), event("response.completed", &renamed)]);
    assert_eq!(received.last()["response"]["id"], "resp_theirs");
}

#[test]
fn invalid_response_id_is_ignored() {
    for id in [json!(null), json!(""), json!(7)] {
        let received = tells(&with(kept(), &json!({"id": id})));
        assert_eq!(received.last()["response"]["id"], "resp_ours");
    }
}

#[test]
fn response_id_is_known_after_first_event() {
    let mut assembler = keeping().assembler();
    assert_eq!(assembler.response_id(), None);
    assembler.apply_event(&event("response.created", &kept()).to_string().into()).unwrap();
    assert_eq!(assembler.response_id().as_deref(), Some("resp_theirs"));
    assembler.fail(Failure::server_error("The upstream broke off."));
    assert_eq!(assembler.response_id().as_deref(), Some("resp_theirs"));
}

#[test]
fn silent_upstream_leaves_the_request_id() {
    let mut assembler = keeping().assembler();
    assembler.fail(Failure::server_error("The upstream broke off."));
    assert_eq!(assembler.response_id().as_deref(), Some("resp_ours"));
}

#[test]
fn own_response_id_is_known() {
    let mut assembler = World::default().assembler();
    assembler.apply_event(&event("response.created", &kept()).to_string().into()).unwrap();
    assert_eq!(assembler.response_id().as_deref(), Some("resp_ours"));
}

/// Some servers number the calls of each response from the start, and give parallel calls the same
/// id.
#[test]
fn parallel_calls_keep_a_shared_call_id() {
    let calls = [call("fc_1", "call_0", r#"{"n":1}"#), call("fc_2", "call_0", r#"{"n":2}"#)];
    let mut events = vec![created()];
    events.extend(streamed_call(0, "fc_1", "call_0", &[r#"{"n":1}"#]));
    events.extend(streamed_call(1, "fc_2", "call_0", &[r#"{"n":2}"#]));
    events.push(completed(&calls));
    let received = keeping().hears(&events);
    let ids: Vec<_> = received
        .output()
        .iter()
        .map(|item| (item["id"].clone(), item["call_id"].clone()))
        .collect();
    let expected = [("fc_1", "call_0"), ("fc_2", "call_0")];
    assert_eq!(ids, expected.map(|(id, call_id)| (json!(id), json!(call_id))));
    assert_eq!(received.finished.notes, []);
}

#[test]
fn held_call_id_is_not_replaced() {
    let world = World::holding(&[call("fc_1", "call_0", r#"{"n":1}"#)]).owned_by_upstream();
    let next = call("fc_2", "call_0", r#"{"n":2}"#);
    let received = world.hears(&[created(), completed(std::slice::from_ref(&next))]);
    assert_eq!(received.only_item()["call_id"], "call_0");
}

#[test]
fn malformed_upstream_ids_are_not_replaced() {
    let (item_id, call_id) = ("item/1 é", "x".repeat(70));
    let odd = call(item_id, &call_id, "{}");
    let received = keeping().hears(&[created(), completed(&[odd])]);
    let item = received.only_item();
    assert_eq!((&item["id"], &item["call_id"]), (&json!(item_id), &json!(call_id)));
    let whole = keeping().hears_whole(&with(
        kept(),
        &json!({"status": "completed",
        "output": [message("0b9f-uuid", "Hello.")]}),
    ));
    assert_eq!(whole.only_item()["id"], "0b9f-uuid");
}

#[test]
fn missing_or_duplicate_item_id_is_replaced() {
    let world = World::holding(&[message("msg_1", "Hello.")]).owned_by_upstream();
    let received = world.hears_whole(&with(
        kept(),
        &json!({"status": "completed",
        "output": [message("msg_1", "Bye."), message("", "Well.")]}),
    ));
    let output = received.output();
    assert!(output.iter().all(|item| item["id"] != "msg_1" && item["id"] != ""));
    let replaced = |note: &Note| matches!(note, Note::ItemIdReplaced { .. });
    assert_eq!(received.finished.notes.iter().filter(|note| replaced(note)).count(), 2);
}

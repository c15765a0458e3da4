//! A second attempt at the upstream request.

use serde_json::{Value, json};

use super::events::*;
use super::world::World;
use crate::stream::{Assembler, Failure};

fn apply(assembler: &mut Assembler, events: &[Value]) {
    for event in events {
        assembler.apply_event(&event.to_string().into()).unwrap();
    }
}

fn whole_answer() -> [Value; 4] {
    let reply = message("msg_1", "Hello");
    [created(), added(0, &begun_message("msg_1")), done(0, &reply), completed(&[reply])]
}

#[test]
fn retry_does_not_repeat_initial_events() {
    let world = World::default();
    let mut assembler = world.assembler();
    apply(&mut assembler, &[created()]);
    assert!(assembler.reset_for_retry());
    apply(&mut assembler, &whole_answer());
    let received = world.ends(assembler);
    assert_eq!(received.events_named("created").len(), 1);
    assert_eq!(received.last()["type"], "response.completed");
    assert_eq!(received.output().len(), 1);
}

#[test]
fn retry_replaces_a_reported_failure() {
    let failed = json!({"type": "response.failed", "response": {"status": "failed", "error":
        {"code": "server_error", "message": "Try again."}}});
    let world = World::default();
    for beginning in [&[created(), failed.clone()][..], &[failed]] {
        let mut assembler = world.assembler();
        apply(&mut assembler, beginning);
        assert_eq!(assembler.failure(), Some(&Failure::server_error("Try again.")));
        assert!(assembler.reset_for_retry());
        assert_eq!(assembler.failure(), None);
        apply(&mut assembler, &whole_answer());
        let received = world.ends(assembler);
        assert_eq!(received.last()["response"]["status"], "completed");
        assert_eq!(received.last()["response"]["error"], Value::Null);
    }
}

#[test]
fn retry_drops_waiting_events() {
    let world = World::default();
    let mut assembler = world.assembler();
    apply(&mut assembler, &[created(), arguments_delta(0, "fc_1", r#"{"old"#)]);
    assert!(assembler.reset_for_retry());
    let call = call("fc_1", "call_1", r#"{"new":1}"#);
    apply(&mut assembler, &[created(), added(0, &begun_call("fc_1", "call_1"))]);
    apply(&mut assembler, &[done(0, &call), completed(&[call])]);
    assert_eq!(world.ends(assembler).only_item()["arguments"], r#"{"new":1}"#);
}

#[test]
fn retry_is_refused_after_output() {
    let world = World::default();
    let mut assembler = world.assembler();
    apply(&mut assembler, &[created(), added(0, &begun_message("msg_1"))]);
    assembler.fail(Failure::server_error("It broke off."));
    assert!(!assembler.reset_for_retry());
    assert!(assembler.has_ended());
    assert_eq!(world.ends(assembler).last()["response"]["error"]["message"], "It broke off.");
}

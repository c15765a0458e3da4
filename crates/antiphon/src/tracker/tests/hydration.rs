//! After an interruption, the server lists its items.

use super::*;
use crate::item::given::{call_under, item, output, user};

fn held_output(call: &str) -> Item {
    item(format!(
        r#"{{"id":"fco_{call}","type":"function_call_output","call_id":"{call}","output":"ok"}}"#
    ))
}

#[test]
fn call_unknown_to_server_gets_no_output() {
    let mut tracker = conversation();
    let aborted = add(&mut tracker, &[output("call_1", "ok")])[0];
    assert_eq!(tracker.unresolved().outputs, [aborted], "nobody knows whether the call is there");
    assert_eq!(next(&tracker), [output("call_1", "ok")]);
    tracker.hydrate(&[]);
    assert_eq!(tracker.plan().reason(aborted), Some(Reason::CallNotHeld));
    assert_eq!(tracker.unresolved().outputs, [aborted]);
}

#[test]
fn call_known_to_server_waits_for_output() {
    let mut tracker = conversation();
    tracker.hydrate(&[call_under("fc_1", "call_1", "{}"), call_under("fc_2", "call_2", "{}")]);
    add(&mut tracker, &[output("call_2", "ok")]);
    let unresolved = tracker.unresolved();
    let ids: Vec<_> = unresolved.calls.iter().map(|call| call.id.clone().unwrap()).collect();
    assert_eq!((ids, unresolved.outputs), (vec!["fc_1".into()], vec![]));
}

#[test]
fn approval_can_stay_open() {
    let mut tracker = conversation();
    tracker.hydrate(&[item(r#"{"type":"mcp_approval_request","id":"mcpr_1","name":"f"}"#)]);
    assert_eq!(tracker.unresolved().calls, []);
}

#[test]
fn arrived_output_is_accepted_and_message_stays_in_flight() {
    let mut tracker = conversation();
    call_model(&mut tracker, None, &[call_under("fc_1", "call_1", "{}")]);
    let added = add(&mut tracker, &[output("call_1", "ok"), user("go on")]);
    let attempt = send(&mut tracker);
    let accepted = tracker.hydrate(&[call_under("fc_1", "call_1", "{}"), held_output("call_1")]);
    assert_eq!(accepted, added[..1]);
    assert_eq!(tracker.unresolved().attempts, [attempt]);
    assert_eq!(tracker.rewind(attempt), Ok(added[1..].to_vec()));
    assert_eq!(next(&tracker), [user("go on")]);
}

#[test]
fn arrived_items_are_not_counted_twice() {
    let mut tracker = conversation();
    call_model(&mut tracker, None, &[call_under("fc_1", "call_0", "{}")]);
    add(&mut tracker, &[output("call_0", "ok")]);
    let attempt = send(&mut tracker);
    let list = [
        call_under("fc_1", "call_0", "{}"),
        held_output("call_0"),
        call_under("fc_2", "call_0", "{}"),
    ];
    tracker.hydrate(&list);
    tracker.accept(attempt, None, &list[2..]).unwrap();
    add(&mut tracker, &[output("call_0", "for the second")]);
    assert_eq!(next(&tracker), [output("call_0", "for the second")]);
}

#[test]
fn call_and_output_can_be_sent_together() {
    let mut tracker = conversation();
    tracker.hydrate(&[]);
    let pair = [call_under("fc_1", "call_1", "{}"), output("call_1", "ok")];
    add(&mut tracker, &pair);
    assert_eq!(next(&tracker), pair);
    assert_eq!(tracker.unresolved().outputs, []);
}

//! A request has only the items that the server does not have.

use super::*;
use crate::item::given::{assistant, call_under, item, output, reasoning, user};
use crate::tracker::{OccurrenceState, RunFinished};

#[test]
fn behaviour_01_hydrated_tracker_plans_new_message() {
    let held = [
        assistant("msg_1", "One moment."),
        call_under("fc_1", "call_1", "{}"),
        item(r#"{"id":"fco_1","type":"function_call_output","call_id":"call_1","output":"ok"}"#),
    ];
    let mut tracker = conversation();
    tracker.hydrate(&held);
    let resent = [held[0].clone(), held[1].clone(), output("call_1", "ok")];
    let resent = add(&mut tracker, &resent);
    add(&mut tracker, &[user("and now?")]);
    let plan = tracker.plan();
    assert_eq!(items(&plan), [user("and now?")]);
    let reasons = resent.iter().map(|occurrence| plan.reason(*occurrence).unwrap());
    let expected = [Reason::HeldId, Reason::HeldId, Reason::HeldOutput];
    assert_eq!(reasons.collect::<Vec<_>>(), expected);
}

#[test]
fn behaviour_02_resume_sends_ready_sibling_output() {
    let mut tracker = conversation();
    add(&mut tracker, &[user("both, please")]);
    let calls = [call_under("fc_1", "call_1", "{}"), call_under("fc_2", "call_2", "{}")];
    call_model(&mut tracker, Some("resp_1"), &calls);
    let waiting = item(r#"{"type":"tool_approval_item","call_id":"call_2"}"#);
    let added = add(&mut tracker, &[output("call_1", "ready"), waiting]);
    let resumed = restored(&tracker);
    assert_eq!(next(&resumed), [output("call_1", "ready")]);
    assert_eq!(resumed.plan().reason(added[1]), Some(Reason::ApprovalPlaceholder));
    assert_eq!(resumed.turns(), 1);
}

#[test]
fn behaviour_03_only_rewound_items_are_pending() {
    let mut tracker = conversation();
    let added = add(&mut tracker, &[user("one"), user("two"), user("three")]);
    let first = tracker.send(&added[..1]).unwrap();
    let second = tracker.send(&added[1..2]).unwrap();
    assert_eq!(tracker.rewind(second), Ok(vec![added[1]]));
    assert_eq!(next(&tracker), [user("two"), user("three")]);
    assert_eq!(tracker.standing(added[0]), Some(OccurrenceState::Sent(first)));
}

#[test]
fn behaviour_05_delivered_output_is_not_repeated() {
    let mut tracker = conversation();
    call_model(&mut tracker, None, &[call_under("fc_1", "call_1", "{}")]);
    let twice = add(&mut tracker, &[output("call_1", "ok"), output("call_1", "ok")]);
    assert_eq!(tracker.plan().reason(twice[1]), Some(Reason::Repeated));
    assert_eq!(call_model(&mut tracker, None, &[]), [output("call_1", "ok")]);
    let again = add(&mut tracker, &[output("call_1", "ok")]);
    assert_eq!(next(&tracker), []);
    assert_eq!(tracker.plan().reason(again[0]), Some(Reason::HeldOutput));
}

#[test]
fn behaviour_06_echoed_pending_item_is_dropped() {
    let mut tracker = conversation();
    let added = add(&mut tracker, &[user("hi"), user("hi"), user("bye")]);
    let attempt = tracker.send(&added[2..]).unwrap();
    let echo = item(r#"{"id":"msg_1","type":"message","role":"user","content":"hi"}"#);
    tracker.accept(attempt, None, &[echo]).unwrap();
    assert_eq!(tracker.plan().occurrences(), [added[1]]);
}

#[test]
fn behaviour_07_item_with_placeholder_id_is_sent() {
    let message = |text: &str| assistant("__fake_id__", text);
    let mut tracker = conversation();
    add(&mut tracker, &[user("hi")]);
    call_model(&mut tracker, None, &[message("one")]);
    add(&mut tracker, &[message("two"), message("three")]);
    assert_eq!(next(&tracker), [message("two"), message("three")]);
}

#[test]
fn behaviour_08_reasoning_without_ids_is_sent_once() {
    let chain = Continuation::Chain { previous_response_id: None };
    let mut tracker = Tracker::new(chain, ReasoningIds::Omit);
    add(&mut tracker, &[reasoning("rs_0"), user("hi")]);
    let bare = reasoning("rs_0").with(|object| object.remove("id"));
    let sent = call_model(&mut tracker, Some("resp_1"), &[reasoning("rs_1")]);
    assert_eq!(sent, [bare.clone(), user("hi")]);
    let mut resumed = restored(&tracker);
    let stripped = reasoning("rs_1").with(|object| object.remove("id"));
    let added = add(&mut resumed, &[bare, reasoning("rs_1"), stripped]);
    let plan = resumed.plan();
    let reasons: Vec<_> = added.iter().map(|at| plan.reason(*at)).collect();
    let (by_id, by_content) = (Some(Reason::HeldId), Some(Reason::HeldReasoning));
    assert_eq!(reasons, [by_content, by_id, by_content]);
}

#[test]
fn equal_messages_are_two_messages() {
    let mut tracker = conversation();
    add(&mut tracker, &[user("again"), user("again")]);
    assert_eq!(call_model(&mut tracker, None, &[]), [user("again"), user("again")]);
    add(&mut tracker, &[user("again")]);
    assert_eq!(next(&tracker), [user("again")]);
}

#[test]
fn own_call_does_not_suppress_its_output() {
    let mut tracker = conversation();
    call_model(&mut tracker, None, &[call_under("fc_1", "call_1", "{}")]);
    let copy = call_under("__fake_id__", "call_1", "{}");
    let added = add(&mut tracker, &[copy, output("call_1", "ok")]);
    assert_eq!(next(&tracker), [output("call_1", "ok")]);
    assert_eq!(tracker.plan().reason(added[0]), Some(Reason::HeldCall));
}

#[test]
fn reused_call_id_gets_its_own_output() {
    let mut tracker = conversation();
    for turn in ["one", "two"] {
        call_model(&mut tracker, None, &[call_under(&format!("fc_{turn}"), "call_0", "{}")]);
        add(&mut tracker, &[output("call_0", turn)]);
        assert_eq!(next(&tracker), [output("call_0", turn)]);
    }
}

#[test]
fn id_appears_once_per_request() {
    let mut tracker = conversation();
    let added = add(&mut tracker, &[reasoning("rs_1"), reasoning("rs_1")]);
    assert_eq!(tracker.plan().reason(added[1]), Some(Reason::Repeated));
}

#[test]
fn item_in_flight_is_not_planned() {
    let mut tracker = conversation();
    let added = add(&mut tracker, &[user("hi")]);
    let attempt = send(&mut tracker);
    assert_eq!(tracker.plan().reason(added[0]), Some(Reason::InFlight(attempt)));
}

#[test]
fn attempt_ends_once() {
    let mut tracker = conversation();
    add(&mut tracker, &[user("hi")]);
    let attempt = send(&mut tracker);
    tracker.accept(attempt, None, &[]).unwrap();
    assert!(tracker.rewind(attempt).is_err());
    assert!(tracker.accept(attempt, None, &[]).is_err());
    assert_eq!((tracker.turns(), next(&tracker)), (1, vec![]));
}

#[test]
fn behaviour_36_finished_run_rejects_items() {
    let mut tracker = conversation();
    add(&mut tracker, &[user("hi")]);
    tracker.finish();
    let before = serde_json::to_string(&tracker).unwrap();
    assert_eq!(tracker.add(user("late")), Err(RunFinished));
    assert_eq!(serde_json::to_string(&tracker).unwrap(), before);
}

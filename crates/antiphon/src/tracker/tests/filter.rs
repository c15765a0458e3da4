//! Filters between the plan and the request.

use super::*;
use crate::item::given::{item, output, system, user};
use crate::tracker::{AmbiguousRebuild, SendError};

/// The first message, rewritten by a filter that works on parsed JSON.
fn rewritten() -> Item {
    item(r#"{"content":[{"type":"input_text","text":"hi"}],"role":"user"}"#)
}

#[test]
fn behaviour_04_rebuilt_item_marks_its_source() {
    let mut tracker = conversation();
    add(&mut tracker, &[user("hi")]);
    let plan = tracker.plan();
    let attempt = tracker.send_filtered(&plan, vec![rebuilt(&rewritten())]).unwrap();
    assert_eq!(next(&tracker), []);
    tracker.accept(attempt, None, &[]).unwrap();
    assert_eq!(next(&tracker), []);
}

#[test]
fn behaviour_10_only_returned_items_are_marked() {
    for mut tracker in [conversation(), chain()] {
        add(&mut tracker, &[user("keep"), user("drop")]);
        let plan = tracker.plan();
        let attempt = tracker.send_filtered(&plan, vec![rebuilt(&user("keep"))]).unwrap();
        tracker.accept(attempt, Some(&"resp_1".into()), &[]).unwrap();
        assert_eq!(next(&tracker), [user("drop")]);
    }
}

#[test]
fn behaviour_33_removed_items_stay_pending() {
    let mut tracker = conversation();
    add(&mut tracker, &[user("hi")]);
    call_model(&mut tracker, None, &[]);
    add(&mut tracker, &[output("call_1", "ok"), user("staged")]);
    let plan = tracker.plan();
    let attempt = tracker.send_filtered(&plan, vec![rebuilt(&output("call_1", "ok"))]).unwrap();
    tracker.accept(attempt, None, &[]).unwrap();
    assert_eq!(next(&restored(&tracker)), [user("staged")]);
}

#[test]
fn behaviour_35_ambiguous_rebuild_is_rejected() {
    let mut tracker = conversation();
    let twins = add(&mut tracker, &[user("hi"), user("hi")]);
    let plan = tracker.plan();
    let sent = tracker.send_filtered(&plan, vec![rebuilt(&rewritten())]);
    let ambiguous = AmbiguousRebuild { position: 0, candidates: twins };
    assert_eq!(sent, Err(SendError::AmbiguousRebuild(ambiguous)));
    assert_eq!(tracker.plan(), plan);
}

#[test]
fn all_returned_equal_items_are_marked() {
    let mut tracker = conversation();
    add(&mut tracker, &[user("hi"), user("hi")]);
    let plan = tracker.plan();
    tracker.send_filtered(&plan, vec![rebuilt(&rewritten()), rebuilt(&rewritten())]).unwrap();
    assert_eq!(next(&tracker), []);
}

#[test]
fn occurrence_identifies_a_changed_item() {
    let mut tracker = conversation();
    let twins = add(&mut tracker, &[user("my card is 4111"), user("my card is 4111")]);
    let plan = tracker.plan();
    let redacted = Returned { occurrence: Some(twins[1]), item: user("my card is ****") };
    let attempt = tracker.send_filtered(&plan, vec![redacted]).unwrap();
    tracker.accept(attempt, None, &[]).unwrap();
    assert_eq!(tracker.plan().occurrences(), [twins[0]]);
}

#[test]
fn filter_addition_is_sent_once() {
    let mut tracker = conversation();
    add(&mut tracker, &[user("hi")]);
    let plan = tracker.plan();
    let filtered = || vec![rebuilt(&system("Be brief.")), rebuilt(&user("hi"))];
    let failed = tracker.send_filtered(&plan, filtered()).unwrap();
    tracker.rewind(failed).unwrap();
    assert_eq!(next(&tracker), [user("hi")]);
    let attempt = tracker.send_filtered(&plan, filtered()).unwrap();
    tracker.accept(attempt, None, &[]).unwrap();
    assert_eq!(next(&tracker), []);
}

#[test]
fn accepted_filter_output_counts_as_held() {
    let mut tracker = conversation();
    let plan = tracker.plan();
    let attempt = tracker.send_filtered(&plan, vec![rebuilt(&output("call_1", "ok"))]).unwrap();
    let late = add(&mut tracker, &[output("call_1", "ok")]);
    assert_eq!(tracker.plan().reason(late[0]), Some(Reason::Repeated));
    tracker.accept(attempt, None, &[]).unwrap();
    assert_eq!(tracker.plan().reason(late[0]), Some(Reason::HeldOutput));
}

#[test]
fn stale_plan_marks_nothing() {
    let mut tracker = conversation();
    let added = add(&mut tracker, &[user("hi")]);
    let stale = tracker.plan();
    call_model(&mut tracker, None, &[]);
    let sent = tracker.send_filtered(&stale, vec![rebuilt(&user("hi"))]);
    assert_eq!(sent, Err(SendError::NotPlanned(added[0])));
    assert_eq!(tracker.send(&added), Err(SendError::NotPlanned(added[0])));
}

#[test]
fn occurrence_appears_once_per_request() {
    let mut tracker = conversation();
    let hi = add(&mut tracker, &[user("hi")])[0];
    assert_eq!(tracker.send(&[hi, hi]), Err(SendError::Twice(hi)));
    let twice = || Returned { occurrence: Some(hi), item: user("hi") };
    let sent = tracker.send_filtered(&tracker.plan(), vec![twice(), twice()]);
    assert_eq!(sent, Err(SendError::Twice(hi)));
    assert_eq!(next(&tracker), [user("hi")]);
}

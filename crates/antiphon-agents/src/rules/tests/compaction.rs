//! Tests of the decision to compact a history, and of its replacement.

use crate::rules::{
    CompactionDecision, CompactionMode, CompactionSource, CompactionTrigger, MIN_CANDIDATES,
    NoResponse, Replacement, ReplacementAction, ReplacementEnd, candidates,
};
use antiphon::item::Item;
use antiphon::item::given::{assistant, item, output, user};
use antiphon::tracker::ResponseId;

#[test]
fn behaviour_42_without_a_stored_response_auto_compacts_the_input() {
    let latest = ResponseId::from("resp_1");
    let by_id = Ok(CompactionSource::PreviousResponseId(latest.clone()));
    let nameless = ResponseId::from("");
    let auto = |store, latest| CompactionMode::Auto.source(store, latest);
    assert_eq!(auto(Some(false), Some(&latest)), Ok(CompactionSource::Input));
    assert_eq!(auto(None, None), Ok(CompactionSource::Input));
    assert_eq!(auto(None, Some(&nameless)), Ok(CompactionSource::Input));
    assert_eq!(auto(None, Some(&latest)), by_id);
    assert_eq!(auto(Some(true), Some(&latest)), by_id);
}

#[test]
fn requested_mode_is_used() {
    let latest = ResponseId::from("resp_1");
    let input = CompactionMode::Input.source(None, Some(&latest));
    assert_eq!(input, Ok(CompactionSource::Input));
    assert_eq!(
        CompactionMode::PreviousResponseId.source(Some(false), Some(&latest)),
        Err(NoResponse)
    );
}

fn old() -> Vec<Item> {
    vec![user("hi"), assistant("msg_1", "Hello.")]
}

fn new() -> Vec<Item> {
    vec![user("hi"), item(r#"{"type":"compaction","id":"cmp_1","encrypted_content":"gAAAA"}"#)]
}

#[test]
fn replacement_clears_then_adds() {
    let mut replacement = Replacement::begin(old(), new());
    assert_eq!(replacement.next_action(), ReplacementAction::Clear);
    replacement.done();
    assert_eq!(replacement.next_action(), ReplacementAction::Add(new()));
    replacement.done();
    assert_eq!(replacement.next_action(), ReplacementAction::End(ReplacementEnd::Replaced));
}

/// A replacement that has deleted the old items and will add the new ones.
fn adding() -> Replacement {
    let mut replacement = Replacement::begin(old(), new());
    replacement.next_action();
    replacement.done();
    replacement.next_action();
    replacement
}

fn assert_restored(mut replacement: Replacement) {
    assert_eq!(replacement.next_action(), ReplacementAction::Restore(old()));
    replacement.done();
    assert_eq!(replacement.next_action(), ReplacementAction::End(ReplacementEnd::Restored));
}

#[test]
fn behaviour_43_after_a_failed_add_or_two_cancellations_the_history_is_restored() {
    let mut failed = adding();
    failed.failed();
    assert_restored(failed);
    let mut cancelled = adding();
    cancelled.cancelled();
    assert_eq!(cancelled.next_action(), ReplacementAction::Restore(old()));
    cancelled.cancelled();
    assert_restored(cancelled);
    let mut clearing = Replacement::begin(old(), new());
    clearing.next_action();
    clearing.failed();
    assert_restored(clearing);
}

#[test]
fn failed_restore_is_retried() {
    let mut replacement = adding();
    replacement.failed();
    replacement.next_action();
    replacement.failed();
    assert_restored(replacement);
}

#[test]
fn concurrent_write_is_kept() {
    let mut replacement = adding();
    replacement.write(vec![user("late")]).unwrap();
    replacement.done();
    assert_eq!(replacement.next_action(), ReplacementAction::Add(vec![user("late")]));
    assert_eq!(
        replacement.next_action(),
        ReplacementAction::Add(vec![user("late")]),
        "it was not done yet"
    );
    replacement.write(vec![user("later")]).unwrap();
    replacement.done();
    assert_eq!(replacement.next_action(), ReplacementAction::Add(vec![user("later")]));
    replacement.failed();
    let all = [&old()[..], &[user("late"), user("later")]].concat();
    assert_eq!(replacement.next_action(), ReplacementAction::Restore(all));
    replacement.done();
    assert_eq!(replacement.next_action(), ReplacementAction::End(ReplacementEnd::Restored));
    assert_eq!(replacement.write(vec![user("after")]), Err(vec![user("after")]));
}

#[test]
fn behaviour_44_a_turn_with_local_tools_defers_and_the_next_one_forces() {
    let mut trigger = CompactionTrigger::default();
    assert_eq!(trigger.after_turn(MIN_CANDIDATES, true), CompactionDecision::Defer);
    assert_eq!(trigger.after_turn(MIN_CANDIDATES + 2, true), CompactionDecision::Defer);
    assert_eq!(trigger.after_turn(1, false), CompactionDecision::Compact { forced: true });
    assert_eq!(trigger.after_turn(1, false), CompactionDecision::Skip);
}

#[test]
fn ten_candidates_are_enough() {
    let mut trigger = CompactionTrigger::default();
    assert_eq!(trigger.after_turn(9, false), CompactionDecision::Skip);
    assert_eq!(trigger.after_turn(9, true), CompactionDecision::Skip);
    assert_eq!(trigger.after_turn(10, false), CompactionDecision::Compact { forced: false });
}

#[test]
fn cleared_history_drops_a_deferred_compaction() {
    let mut trigger = CompactionTrigger::default();
    trigger.after_turn(MIN_CANDIDATES, true);
    trigger.cleared();
    assert_eq!(trigger.after_turn(1, false), CompactionDecision::Skip);
}

#[test]
fn users_words_and_compactions_are_no_candidates() {
    let history = [&new()[..], &[assistant("msg_1", "Hello."), output("call_1", "ok")]].concat();
    assert_eq!(candidates(&history), 2);
}

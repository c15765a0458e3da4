//! Tests of input that is staged while a run is paused.

use super::{call_model, conversation, next, tracker};
use crate::rules::{CommitPoint, Staging};
use antiphon::item::given::{call_under, item, output, user};
use antiphon::tracker::{Returned, RunFinished, SendError, Tracker};

/// A run that paused between a call and its output.
fn paused() -> Tracker {
    let mut tracker = tracker();
    tracker.add(user("hi")).unwrap();
    call_model(&mut tracker, &[call_under("fc_1", "call_1", "{}")]);
    tracker
}

fn staged(texts: &[&str]) -> Staging {
    let mut staging = Staging::default();
    for text in texts {
        staging.stage(user(text)).unwrap();
    }
    staging
}

fn restored(staging: &Staging) -> Staging {
    serde_json::from_str(&serde_json::to_string(staging).unwrap()).unwrap()
}

#[test]
fn behaviour_30_staged_input_is_admitted_behind_the_output_and_once() {
    let (mut tracker, mut staging) = (paused(), staged(&["hurry"]));
    tracker.add(output("call_1", "ok")).unwrap();
    staging.admit(&mut tracker).unwrap();
    staging.admit(&mut tracker).unwrap();
    assert_eq!(call_model(&mut tracker, &[]), [output("call_1", "ok"), user("hurry")]);
    assert_eq!(next(&tracker), []);
}

#[test]
fn behaviour_31_two_identical_inputs_survive_a_restore() {
    let (mut tracker, mut staging) = (paused(), restored(&staged(&["hurry", "hurry"])));
    staging.admit(&mut tracker).unwrap();
    assert_eq!(next(&tracker), [user("hurry"), user("hurry")]);
}

#[test]
fn staged_items_keep_their_bytes() {
    let odd = r#"{"role" : "user","content":"h\u0069","x":1e2}"#;
    let mut staging = Staging::default();
    staging.stage(item(odd)).unwrap();
    assert_eq!(restored(&staging).waiting()[0].text(), odd);
}

#[test]
fn behaviour_32_after_a_failed_request_staged_input_is_pending() {
    let (mut tracker, mut staging) = (paused(), staged(&["hurry"]));
    let admitted = staging.admit(&mut tracker).unwrap();
    let attempt = tracker.send(&admitted).unwrap();
    tracker.rewind(attempt).unwrap();
    assert_eq!(next(&tracker), [user("hurry")]);
}

#[test]
fn behaviour_34_input_accepted_before_a_hook_failure_is_not_replayed() {
    let (mut tracker, mut staging) = (paused(), staged(&["hurry"]));
    assert_eq!(CommitPoint::from_continuation(Some(&conversation())), CommitPoint::OnAcceptance);
    staging.admit(&mut tracker).unwrap();
    call_model(&mut tracker, &[]);
    let stored_when_the_hook_failed = serde_json::to_string(&tracker).unwrap();
    let resumed: Tracker = serde_json::from_str(&stored_when_the_hook_failed).unwrap();
    assert_eq!(next(&resumed), []);
}

#[test]
fn behaviour_35_an_ambiguous_rebuild_of_staged_input_is_rejected() {
    let (mut tracker, mut staging) = (paused(), staged(&["hurry", "hurry"]));
    staging.admit(&mut tracker).unwrap();
    let rebuilt = vec![Returned { occurrence: None, item: user("hurry") }];
    let sent = tracker.send_filtered(&tracker.plan(), rebuilt);
    assert!(matches!(sent, Err(SendError::AmbiguousRebuild(_))));
    assert_eq!(next(&tracker).len(), 2);
}

#[test]
fn behaviour_36_nothing_is_staged_or_admitted_after_the_run() {
    let (mut tracker, mut staging) = (paused(), staged(&["hurry"]));
    tracker.finish();
    assert_eq!(staging.admit(&mut tracker), Err(RunFinished));
    staging.finish();
    assert_eq!(staging.stage(user("late")), Err(RunFinished));
    assert_eq!(staging.waiting(), [user("hurry")]);
}

#[test]
fn history_of_the_client_commits_before_the_model_call() {
    assert_eq!(CommitPoint::from_continuation(None), CommitPoint::BeforeModelCall);
    let mut staging = staged(&["hurry"]);
    assert_eq!(staging.take(), [user("hurry")]);
    assert_eq!(staging.take(), []);
}

//! Snapshots of trackers.

use super::*;
use crate::item::given::{call_under, item, output, user};
use crate::tracker::SnapshotError;

/// An item whose bytes change if it is parsed and written again.
const ODD: &str = r#"{"role" : "user", "content":"h\u0069", "x_n":1e2,"x_big":9007199254740993 }"#;

#[test]
fn items_keep_their_bytes() {
    let mut tracker = conversation();
    add(&mut tracker, &[item(ODD), item(ODD)]);
    let sent = tracker.plan().occurrences()[0];
    tracker.send(&[sent]).unwrap();
    let resumed = restored(&tracker);
    assert_eq!(next(&resumed)[0].text(), ODD);
    assert_eq!(serde_json::to_string(&resumed).unwrap(), serde_json::to_string(&tracker).unwrap());
}

#[test]
fn behaviour_31_two_identical_inputs_survive() {
    let mut tracker = conversation();
    add(&mut tracker, &[user("hi"), user("hi")]);
    assert_eq!(next(&restored(&tracker)), [user("hi"), user("hi")]);
}

#[test]
fn resumed_run_knows_the_items_of_the_server() {
    let mut tracker = chain();
    add(&mut tracker, &[user("hi")]);
    call_model(&mut tracker, Some("resp_1"), &[call_under("fc_1", "call_1", "{}")]);
    let mut resumed = restored(&tracker);
    assert_eq!((previous(&resumed), resumed.turns()), (Some("resp_1"), 1));
    add(&mut resumed, &[call_under("fc_1", "call_1", "{}"), output("call_1", "ok")]);
    assert_eq!(next(&resumed), [output("call_1", "ok")]);
}

#[test]
fn restored_attempt_can_be_rewound() {
    let mut tracker = conversation();
    add(&mut tracker, &[user("hi")]);
    let attempt = send(&mut tracker);
    let mut resumed = restored(&tracker);
    assert_eq!(next(&resumed), []);
    resumed.rewind(attempt).unwrap();
    assert_eq!(next(&resumed), [user("hi")]);
}

#[test]
fn finished_run_stays_finished() {
    let mut tracker = conversation();
    tracker.finish();
    assert!(restored(&tracker).add(user("late")).is_err());
}

#[test]
fn inconsistent_snapshot_is_rejected() {
    let mut tracker = conversation();
    add(&mut tracker, &[user("hi")]);
    let attempt = send(&mut tracker);
    let text = serde_json::to_string(&tracker).unwrap();
    let refusal = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        let restored = serde_json::from_str::<Tracker>(&text.replace(from, to));
        restored.unwrap_err().to_string()
    };
    let lost = SnapshotError::Attempt(attempt).to_string();
    assert!(
        refusal(r#""version":1"#, r#""version":2"#).starts_with("unsupported snapshot version 2")
    );
    assert!(refusal(r#"{"sent":0}"#, r#""pending""#).starts_with(&lost));
    assert!(refusal(r#""attempts":1"#, r#""attempts":0"#).starts_with(&lost));
    let without_item =
        refusal(r#""item":{"role":"user","content":"hi"},"is_initial""#, r#""is_initial""#);
    assert!(without_item.starts_with("snapshot lacks the item of occurrence 0"));
}

//! Cases that need bodies. All others need only heads and fingerprints: every other test of this
//! folder also runs with bodies elsewhere.

use super::{FRESH, by_call, by_id, by_place, differing, owner};
use crate::item::given::{assistant, call, compaction, item, output, user};
use crate::reconcile::Verdict;

#[test]
fn different_call_under_a_used_call_id_is_resent() {
    let held =
        owner([call("call_context", r#"{"query":"Bonn"}"#), output("call_context", "A city.")]);
    let verdicts = held.without_body().reconcile_as_held([
        call("call_context", r#"{"query":"Rome"}"#),
        output("call_context", "Another city."),
        user("Where is Rome?"),
    ]);
    assert_eq!(verdicts, [by_call(0), by_call(1), FRESH]);
}

#[test]
fn compaction_without_id_is_new() {
    let held = owner([user("hi"), compaction("cmp_1"), assistant("msg_2", "Hello.")]);
    let bare = item(r#"{"type":"compaction","encrypted_content":"gAAAA-cmp_1"}"#);
    assert_eq!(held.without_body().reconcile_as_held([bare, user("bye")]), [FRESH, FRESH]);
}

#[test]
fn changed_output_is_not_detected() {
    let held = owner([call("call_1", "{}"), output("call_1", "ok")]);
    let verdicts = held.without_body().reconcile_as_held([output("call_1", "not ok"), user("bye")]);
    assert_eq!(verdicts, [by_call(1), FRESH]);
}

#[test]
fn changed_message_is_detected_by_fingerprint() {
    let mine = |text: &str| item(format!(r#"{{"id":"msg_0","role":"user","content":"{text}"}}"#));
    let held = || owner([mine("hi"), assistant("msg_1", "Hello.")]).without_body();
    let edited = [mine("hi"), assistant("msg_1", "Hello, edited."), user("bye")];
    assert_eq!(held().reconcile_as_held(edited), [by_id(0), differing(by_id(1)), FRESH]);
    assert_eq!(held().reconcile_as_held([mine("bye")]), [Verdict::FreshUnderUsedId]);
}

#[test]
fn local_and_remote_bodies_form_one_conversation() {
    let mut held = owner([user("hi"), assistant("msg_1", "Hello."), user("Bonn?")]);
    held.0[0] = held.0[0].clone().without_body();
    let verdicts = held.reconcile_as_held([user("hi"), user("Bonn?"), user("bye")]);
    assert_eq!(verdicts, [by_place(0), by_place(2), FRESH]);
}

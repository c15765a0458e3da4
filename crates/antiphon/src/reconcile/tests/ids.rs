//! Rule 1: the same item id.

use super::{FRESH, by_id, by_place, differing, owner};
use crate::item::given::{
    assistant, call_under, compaction, item, output, reasoning, reference, user,
};
use crate::item::{DerivedIds, Item};
use crate::reconcile::Verdict;

fn user_under(id: &str, text: &str) -> Item {
    item(format!(r#"{{"type":"message","id":"{id}","role":"user","content":"{text}"}}"#))
}

#[test]
fn user_message_keeps_its_id() {
    let held = owner([user_under("msg_1", "hi")]);
    assert_eq!(held.reconcile([user_under("msg_1", "hi"), user("bye")]), [by_id(0), FRESH]);
}

#[test]
fn another_message_under_a_used_id_is_new() {
    let held = owner([user_under("msg_1", "hi"), assistant("msg_2", "Hello.")]);
    let verdicts = held.reconcile([user_under("msg_1", "bye")]);
    assert_eq!(verdicts, [Verdict::FreshUnderUsedId]);
}

#[test]
fn edited_assistant_message_keeps_the_stored_one() {
    let held = owner([user("hi"), assistant("msg_1", "Hello.")]);
    let verdicts = held.reconcile([assistant("msg_1", "Hello, edited."), user("bye")]);
    assert_eq!(verdicts, [differing(by_id(1)), FRESH]);
}

#[test]
fn reasoning_without_content_is_matched_by_id() {
    let held = owner([user("hi"), reasoning("rs_1"), assistant("msg_1", "Hello.")]);
    let stripped = item(r#"{"type":"reasoning","id":"rs_1","summary":[]}"#);
    let verdicts = held.reconcile([stripped, assistant("msg_1", "Hello."), user("bye")]);
    assert_eq!(verdicts, [by_id(1), by_id(2), FRESH]);
}

#[test]
fn unknown_id_is_new() {
    let held = owner([user("hi"), assistant("msg_1", "Hello.")]);
    let verdicts = held.reconcile([assistant("msg_other", "Hello."), user("bye")]);
    assert_eq!(verdicts, [FRESH, FRESH]);
}

#[test]
fn output_with_the_id_of_its_call_answers_it() {
    let held = owner([user("hi"), call_under("fc_1", "call_1", "{}")]);
    let output = item(
        r#"{"type":"function_call_output","id":"fc_1","call_id":"call_1","output":"20 degrees"}"#,
    );
    assert_eq!(held.reconcile([output]), [Verdict::FreshUnderUsedId]);
}

#[test]
fn outputs_of_two_calls_under_one_id_are_two() {
    let output = |call_id: &str| {
        item(format!(
            r#"{{"type":"function_call_output","id":"fc_out","call_id":"{call_id}","output":"ok"}}"#
        ))
    };
    let held = owner([
        user("hi"),
        call_under("fc_1", "call_1", "{}"),
        output("call_1"),
        call_under("fc_2", "call_2", "{}"),
    ]);
    let verdicts = held.reconcile([output("call_1"), output("call_2")]);
    assert_eq!(verdicts, [by_id(2), Verdict::FreshUnderUsedId]);
}

#[test]
fn repeated_item_of_an_input_counts_once() {
    let verdicts = owner([]).reconcile([
        user("hi"),
        reasoning("rs_1"),
        call_under("fc_1", "call_1", "{}"),
        output("call_1", "ok"),
        reasoning("rs_1"),
        call_under("fc_1", "call_1", "{}"),
        output("call_1", "ok"),
    ]);
    let copies = [1, 2, 3].map(Verdict::Duplicate);
    assert_eq!(verdicts[..4], [FRESH; 4]);
    assert_eq!(verdicts[4..], copies);
}

#[test]
fn copy_of_a_stored_item_is_resent() {
    let held = owner([user("hi"), assistant("msg_1", "Hello.")]);
    let verdicts =
        held.reconcile([user("hi"), assistant("msg_1", "Hello."), reference("msg_1"), user("bye")]);
    assert_eq!(verdicts, [by_place(0), by_id(1), by_id(1), FRESH]);
}

#[test]
fn reference_next_to_its_item_is_a_copy() {
    let verdicts = owner([]).reconcile([assistant("msg_1", "Hello."), reference("msg_1")]);
    assert_eq!(verdicts, [FRESH, Verdict::Duplicate(0)]);
}

#[test]
fn two_user_messages_under_one_new_id_are_two() {
    let verdicts = owner([]).reconcile([user_under("msg_1", "hi"), user_under("msg_1", "bye")]);
    assert_eq!(verdicts, [FRESH, Verdict::FreshUnderUsedId]);
}

#[test]
fn encrypted_item_under_a_used_id_is_resent() {
    let held = owner([user("hi"), reasoning("rs_1"), assistant("msg_1", "Hello.")]);
    let other =
        item(r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAA-other"}"#);
    assert_eq!(held.reconcile([other, user("bye")]), [differing(by_id(1)), FRESH]);
    let held = owner([item(r#"{"type":"acme:note","id":"rs_1"}"#)]);
    assert_eq!(held.reconcile([reasoning("rs_1")]), [differing(by_id(0))]);
}

/// Anthropic's clients return thinking without an id, and a sealed block in another form.
#[test]
fn reasoning_without_id_is_matched_by_encrypted_content() {
    let sealed = |id: &str, content: &str| {
        let content = crate::json::quote(content);
        item(format!(r#"{{"type":"reasoning",{id}"summary":[],"encrypted_content":{content}}}"#))
    };
    let seal = |origin: &str, block: &str| {
        format!(r#"{{"antiphon":"anthropic","origin":"{origin}","content":{block}}}"#)
    };
    let signed = seal("a m", r#"{"type":"thinking","thinking":"Hm.","signature":"EqQB"}"#);
    let held = owner([
        user("hi"),
        sealed(r#""id":"rs_1","#, "gAAAA"),
        sealed(r#""id":"rs_2","#, &signed),
        assistant("msg_3", "Hello."),
    ]);
    let encrypted =
        r#"{"antiphon":"responses","origin":"a m","content":{"encrypted_content":"gAAAA"}}"#;
    let verdicts = held.reconcile_as_held([
        user("hi"),
        sealed("", encrypted),
        sealed("", &seal("b m", r#"{"signature":"EqQB","thinking":"Hm.","type":"thinking"}"#)),
        sealed("", "gAAAA-other"),
    ]);
    assert_eq!(verdicts, [by_place(0), by_id(1), by_id(2), FRESH]);
}

#[test]
fn compaction_without_id_is_matched_by_content() {
    let held = || owner([user("hi"), compaction("cmp_1"), assistant("msg_2", "Hello.")]);
    let bare = item(r#"{"type":"compaction","encrypted_content":"gAAAA-cmp_1"}"#);
    let other = item(r#"{"type":"compaction","encrypted_content":"gAAAA-other"}"#);
    assert_eq!(held().reconcile_as_held([bare, user("bye")]), [by_id(1), FRESH]);
    assert_eq!(held().reconcile([other, user("bye")]), [FRESH, FRESH]);
}

#[test]
fn item_without_its_id_is_matched_by_the_id_that_a_repair_gave_it() {
    let search = || item(r#"{"type":"web_search_call","status":"completed"}"#);
    let mut ids = DerivedIds::default();
    let mut sent = || {
        let id = ids.next(&search(), |_| false);
        search().with(|object| object.set_string("id", id.as_str()))
    };
    let held = owner([user("hi"), sent(), sent(), assistant("msg_1", "Found.")]);
    let verdicts = held.reconcile([user("hi"), search(), search(), search()]);
    assert_eq!(verdicts[1..], [by_id(1), by_id(2), FRESH]);
}

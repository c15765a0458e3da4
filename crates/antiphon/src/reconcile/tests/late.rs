//! Outputs that arrive after a placeholder answered their call.

use super::{FRESH, Owner, by_call, by_id, by_place, owner};
use crate::item::Item;
use crate::item::given::{assistant, bare_assistant, call, call_under, item, output, user};
use crate::placeholder::late_output_message;
use crate::reconcile::Verdict;
use crate::repair::repair;

const LATE: Verdict = Verdict::LateOutput { placeholder: 2 };

fn placeholder(call: &Item) -> Item {
    repair(std::slice::from_ref(call)).items.remove(1)
}

/// A turn with an unanswered call, followed by another turn.
fn items() -> Vec<Item> {
    let call = call_under("fc_1", "call_1", r#"{"city":"Bonn"}"#);
    let output = placeholder(&call);
    vec![user("Bonn?"), call, output, user("Never mind."), assistant("msg_1", "Fine.")]
}

fn conversation() -> Owner {
    owner(items()).with_placeholders([2])
}

fn degrees() -> Item {
    output("call_1", "10 degrees")
}

/// The conversation at a provider that deletes nothing: a message carries the late output.
fn conversation_with_carrier() -> Owner {
    let message = late_output_message(&degrees()).expect("a message can carry an output");
    let later = [message, user("And now?"), assistant("msg_2", "Cold.")];
    owner(items().into_iter().chain(later)).with_placeholders([2, 5])
}

#[test]
fn real_output_after_a_placeholder_is_new() {
    let verdicts = conversation().reconcile([degrees(), user("And now?")]);
    assert_eq!(verdicts, [LATE, FRESH]);
    assert!(verdicts[0].is_fresh());
}

#[test]
fn late_output_is_found_in_a_full_replay() {
    let ids_kept = conversation().reconcile([
        user("Bonn?"),
        call_under("fc_1", "call_1", r#"{"city":"Bonn"}"#),
        degrees(),
        user("Never mind."),
        assistant("msg_1", "Fine."),
        user("And now?"),
    ]);
    assert_eq!(ids_kept, [by_place(0), by_id(1), LATE, by_place(3), by_id(4), FRESH]);
    let ids_stripped = conversation().reconcile([
        user("Bonn?"),
        call("call_1", r#"{"city":"Bonn"}"#),
        degrees(),
        user("Never mind."),
        bare_assistant("Fine."),
        user("And now?"),
    ]);
    assert_eq!(ids_stripped, [by_place(0), by_call(1), LATE, by_place(3), by_place(4), FRESH]);
}

#[test]
fn returned_placeholder_is_resent() {
    let placeholder = items().remove(2);
    let verdicts = conversation().reconcile([placeholder, user("And now?")]);
    assert_eq!(verdicts, [by_call(2), FRESH]);
    let as_parts = item(
        r#"{"type":"function_call_output","call_id":"call_1","id":null,"status":"completed",
            "output":[{"type":"input_text","text":"No output was recorded for this call."}]}"#,
    );
    assert_eq!(conversation().reconcile([as_parts]), [by_call(2)]);
}

#[test]
fn shorter_output_than_the_placeholder_is_late() {
    let patch = item(
        r#"{"type":"apply_patch_call","id":"apc_1","call_id":"call_1","status":"completed",
            "operation":{"type":"delete_file","path":"a"}}"#,
    );
    let held = owner([user("Tidy up."), patch.clone(), placeholder(&patch)]).with_placeholders([2]);
    let patched =
        item(r#"{"type":"apply_patch_call_output","call_id":"call_1","status":"completed"}"#);
    assert_eq!(held.reconcile([patched]), [LATE]);
}

#[test]
fn repeated_late_output_counts_once() {
    let verdicts = conversation().reconcile([degrees(), degrees()]);
    assert_eq!(verdicts, [LATE, Verdict::Duplicate(0)]);
}

#[test]
fn late_output_carried_by_a_message_is_resent() {
    let verdicts = conversation_with_carrier().reconcile([
        user("Bonn?"),
        call("call_1", r#"{"city":"Bonn"}"#),
        degrees(),
        user("Never mind."),
        bare_assistant("Fine."),
        user("And now?"),
        bare_assistant("Cold."),
        user("bye"),
    ]);
    let expected = [
        by_place(0),
        by_call(1),
        by_call(5),
        by_place(3),
        by_place(4),
        by_place(6),
        by_place(7),
        FRESH,
    ];
    assert_eq!(verdicts, expected);
    assert_eq!(conversation_with_carrier().reconcile([output("call_1", "20 degrees")]), [LATE]);
}

#[test]
fn returned_carrier_message_is_resent() {
    let message = late_output_message(&degrees()).expect("a message can carry an output");
    let verdicts = conversation_with_carrier().reconcile([
        user("Bonn?"),
        user("Never mind."),
        bare_assistant("Fine."),
        message,
        user("And now?"),
        bare_assistant("Cold."),
        user("bye"),
    ]);
    let expected =
        [by_place(0), by_place(3), by_place(4), by_place(5), by_place(6), by_place(7), FRESH];
    assert_eq!(verdicts, expected);
}

#[test]
fn real_output_is_resent_once_it_replaced_the_placeholder() {
    let held = || {
        let both = items().into_iter().chain([degrees(), user("And now?")]);
        owner(both).with_placeholders([2]).without([2])
    };
    assert_eq!(held().reconcile([degrees(), user("bye")]), [by_call(5), FRESH]);
    let replay = [user("Bonn?"), call("call_1", r#"{"city":"Bonn"}"#), degrees(), user("bye")];
    assert_eq!(held().reconcile(replay)[..3], [by_place(0), by_call(1), by_call(5)]);
}

#[test]
fn real_output_is_never_late() {
    let held = owner([user("Bonn?"), call("call_1", "{}"), degrees()]);
    let verdicts = held.reconcile([output("call_1", "20 degrees"), user("bye")]);
    assert!(!verdicts[0].is_fresh());
}

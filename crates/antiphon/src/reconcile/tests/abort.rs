//! After an abort, the client's history and the owner's may differ: the owner may or may not have
//! stored the turn.

use super::{FRESH, by_id, by_place, owner};
use crate::item::given::{
    assistant, bare_assistant, call_under, output, reasoning, reference, user,
};

#[test]
fn unstored_reasoning_does_not_hide_surrounding_history() {
    let held = owner([
        user("hi"),
        reasoning("rs_1"),
        assistant("msg_1", "Hello."),
        user("Tell me a story."),
    ]);
    let verdicts = held.reconcile([
        user("hi"),
        reasoning("rs_1"),
        assistant("msg_1", "Hello."),
        user("Tell me a story."),
        reasoning("rs_orphan"),
        user("A short one."),
    ]);
    assert_eq!(verdicts, [by_place(0), by_id(1), by_id(2), by_place(3), FRESH, FRESH]);
}

#[test]
fn first_turn_may_be_cut_short() {
    let held = owner([user("Tell me a story.")]);
    let verdicts =
        held.reconcile([user("Tell me a story."), reasoning("rs_orphan"), user("A short one.")]);
    assert_eq!(verdicts, [by_place(0), FRESH, FRESH]);
}

#[test]
fn failed_turn_is_new_when_resent() {
    let held = owner([user("hi"), assistant("msg_1", "Hello.")]);
    let verdicts = held.reconcile([
        user("hi"),
        assistant("msg_1", "Hello."),
        user("Tell me a story."),
        bare_assistant("Once"),
        user("Go on."),
    ]);
    assert_eq!(verdicts, [by_place(0), by_id(1), FRESH, FRESH, FRESH]);
}

#[test]
fn unstored_call_is_new_with_its_output() {
    let held = owner([user("What is the weather?")]);
    let verdicts = held.reconcile([
        user("What is the weather?"),
        call_under("fc_lost", "call_lost", "{}"),
        output("call_lost", "20 degrees"),
    ]);
    assert_eq!(verdicts, [by_place(0), FRESH, FRESH]);
}

#[test]
fn late_output_finds_the_call_of_an_abandoned_turn() {
    let held = owner([
        user("What is the weather?"),
        call_under("fc_1", "call_1", "{}"),
        user("Never mind. Tell me a story."),
        assistant("msg_1", "Once upon a time."),
    ]);
    let verdicts = held.reconcile([
        user("What is the weather?"),
        output("call_1", "20 degrees"),
        user("Never mind. Tell me a story."),
        user("Go on."),
    ]);
    assert_eq!(verdicts, [by_place(0), FRESH, by_place(2), FRESH]);
}

#[test]
fn retracted_message_leaves_the_previous_answer_resent() {
    let held = owner([
        user("hi"),
        reasoning("rs_1"),
        assistant("msg_1", "Hello."),
        user("Tell me a story."),
    ]);
    let verdicts = held.reconcile([
        user("hi"),
        reasoning("rs_1"),
        bare_assistant("Hello."),
        user("Sing a song."),
    ]);
    assert_eq!(verdicts, [by_place(0), by_id(1), by_place(2), FRESH]);
}

#[test]
fn late_output_after_a_replay_is_new() {
    let held = owner([
        user("What is the weather?"),
        call_under("fc_1", "call_1", "{}"),
        user("Never mind."),
        assistant("msg_1", "Fine."),
    ]);
    let verdicts = held.reconcile([
        reference("msg_1"),
        output("call_1", "20 degrees"),
        user("Never mind."),
        user("Tell me a story."),
    ]);
    assert_eq!(verdicts, [by_id(3), FRESH, FRESH, FRESH]);
}

#[test]
fn message_of_an_abandoned_turn_is_new_if_last() {
    let held = owner([user("hi"), assistant("msg_1", "Hello."), user("Tell me a story.")]);
    let again = [user("hi"), assistant("msg_1", "Hello."), user("Tell me a story.")];
    assert_eq!(held.reconcile(again), [by_place(0), by_id(1), FRESH]);
}

#[test]
fn client_without_ids_may_forget_an_abandoned_turn() {
    let held = || owner([user("hi"), assistant("msg_1", "Hello."), user("Tell me a story.")]);
    let forgot = [user("hi"), bare_assistant("Hello."), user("Sing a song.")];
    assert_eq!(held().reconcile(forgot), [by_place(0), by_place(1), FRESH]);
    let again = [user("hi"), bare_assistant("Hello."), user("Tell me a story.")];
    assert_eq!(held().reconcile(again.clone()), [by_place(0), by_place(1), FRESH]);
    let both = [user("hi"), bare_assistant("Hello."), user("Tell me a story."), user("Go on.")];
    assert_eq!(held().reconcile(both), [by_place(0), by_place(1), by_place(2), FRESH]);
    let a_delta = [user("hi"), user("Sing a song.")];
    assert_eq!(held().reconcile(a_delta), [FRESH, FRESH]);
}

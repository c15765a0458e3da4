//! The AI SDK: user messages and outputs without ids; assistant messages by reference or omitted.

use super::{FRESH, by_call, by_id, by_place, owner};
use crate::item::given::{assistant, call, call_under, output, reasoning, reference, user};

#[test]
fn tool_loop_in_a_conversation_resends_the_user_message() {
    let held = owner([
        user("hi"),
        assistant("msg_1", "Hello."),
        user("What is the weather?"),
        reasoning("rs_1"),
        call_under("fc_1", "call_1", "{}"),
    ]);
    let verdicts = held.reconcile([user("What is the weather?"), output("call_1", "20 degrees")]);
    assert_eq!(verdicts, [by_place(2), FRESH]);
}

#[test]
fn second_step_of_a_tool_loop_resends_the_first() {
    let held = owner([
        user("Bonn, then Rome?"),
        call_under("fc_1", "call_1", r#"{"city":"Bonn"}"#),
        output("call_1", "10 degrees"),
        call_under("fc_2", "call_2", r#"{"city":"Rome"}"#),
    ]);
    let verdicts = held.reconcile([
        user("Bonn, then Rome?"),
        output("call_1", "10 degrees"),
        output("call_2", "20 degrees"),
    ]);
    assert_eq!(verdicts, [by_place(0), by_call(2), FRESH]);
}

#[test]
fn full_replay_repeats_users_and_outputs() {
    let held = owner([
        user("hi"),
        assistant("msg_1", "Hello."),
        user("What is the weather?"),
        call_under("fc_1", "call_1", "{}"),
        output("call_1", "20 degrees"),
        assistant("msg_2", "It is warm."),
        user("yes"),
        assistant("msg_3", "Fine."),
    ]);
    let verdicts = held.reconcile([
        user("hi"),
        user("What is the weather?"),
        output("call_1", "20 degrees"),
        user("yes"),
        user("yes"),
    ]);
    assert_eq!(verdicts, [by_place(0), by_place(2), by_call(4), by_place(6), FRESH]);
}

#[test]
fn full_replay_without_outputs_has_no_anchor() {
    let held = owner([
        user("hi"),
        assistant("msg_1", "Hello."),
        user("yes"),
        assistant("msg_2", "Fine."),
        user("yes"),
        assistant("msg_3", "Good."),
    ]);
    let verdicts = held.reconcile([user("hi"), user("yes"), user("yes"), user("bye")]);
    assert_eq!(verdicts, [by_place(0), by_place(2), by_place(4), FRESH]);
}

#[test]
fn tool_loop_on_an_older_response_is_a_branch() {
    let held = owner([user("hi"), assistant("msg_1", "Hello.")]);
    let verdicts = held.reconcile([
        user("What is the weather?"),
        call("call_1", "{}"),
        output("call_1", "20 degrees"),
    ]);
    assert_eq!(verdicts, [FRESH, FRESH, FRESH]);
}

#[test]
fn earlier_text_in_a_branch_is_new() {
    let held = owner([user("yes"), assistant("msg_1", "Fine.")]);
    let verdicts =
        held.reconcile([user("yes"), call("call_1", "{}"), output("call_1", "20 degrees")]);
    assert_eq!(verdicts, [FRESH, FRESH, FRESH]);
}

#[test]
fn assistants_are_replayed_by_reference() {
    let held = owner([user("hi"), assistant("msg_1", "Hello.")]);
    let verdicts = held.reconcile([user("hi"), reference("msg_1"), user("bye")]);
    assert_eq!(verdicts, [by_place(0), by_id(1), FRESH]);
}

#[test]
fn reasoning_by_reference_with_full_call_is_resent() {
    let held = owner([
        user("What is the weather?"),
        reasoning("rs_1"),
        call_under("fc_1", "call_1", "{}"),
        output("call_1", "20 degrees"),
        assistant("msg_1", "It is warm."),
    ]);
    let verdicts = held.reconcile([
        user("What is the weather?"),
        reference("rs_1"),
        call("call_1", "{}"),
        output("call_1", "20 degrees"),
        reference("msg_1"),
        user("Thanks."),
    ]);
    assert_eq!(verdicts, [by_place(0), by_id(1), by_call(2), by_call(3), by_id(4), FRESH]);
}

#[test]
fn output_answers_a_referenced_call() {
    let held = owner([user("What is the weather?"), call_under("fc_1", "call_1", "{}")]);
    let verdicts = held.reconcile([
        user("What is the weather?"),
        reference("fc_1"),
        output("call_1", "20 degrees"),
    ]);
    assert_eq!(verdicts, [by_place(0), by_id(1), FRESH]);
}

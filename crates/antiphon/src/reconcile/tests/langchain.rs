//! LangChain and LangGraph: full messages, with ids if they were issued.

use super::{FRESH, by_call, by_id, by_place, owner};
use crate::item::given::{assistant, bare_assistant, call_under, output, reasoning, user};

#[test]
fn tool_loop_in_a_conversation_resends_all_but_the_output() {
    let held = owner([
        user("What is the weather in Bonn?"),
        reasoning("rs_1"),
        call_under("fc_1", "call_1", r#"{"city":"Bonn"}"#),
    ]);
    let verdicts = held.reconcile([
        user("What is the weather in Bonn?"),
        reasoning("rs_1"),
        call_under("fc_1", "call_1", r#"{"city":"Bonn"}"#),
        output("call_1", "20 degrees"),
    ]);
    assert_eq!(verdicts, [by_place(0), by_id(1), by_id(2), FRESH]);
}

#[test]
fn later_tool_loop_resends_the_whole_conversation() {
    let held = owner([
        user("My name is Ada."),
        assistant("msg_1", "Hello Ada."),
        user("What is the weather?"),
        call_under("fc_1", "call_1", "{}"),
    ]);
    let verdicts = held.reconcile([
        user("My name is Ada."),
        assistant("msg_1", "Hello Ada."),
        user("What is the weather?"),
        call_under("fc_1", "call_1", "{}"),
        output("call_1", "20 degrees"),
    ]);
    assert_eq!(verdicts, [by_place(0), by_id(1), by_place(2), by_id(3), FRESH]);
}

#[test]
fn parallel_calls_are_answered_at_once() {
    let held = owner([
        user("Bonn and Rome?"),
        reasoning("rs_1"),
        call_under("fc_1", "call_1", r#"{"city":"Bonn"}"#),
        call_under("fc_2", "call_2", r#"{"city":"Rome"}"#),
    ]);
    let verdicts = held.reconcile([
        user("Bonn and Rome?"),
        reasoning("rs_1"),
        call_under("fc_1", "call_1", r#"{"city":"Bonn"}"#),
        call_under("fc_2", "call_2", r#"{"city":"Rome"}"#),
        output("call_1", "10 degrees"),
        output("call_2", "20 degrees"),
    ]);
    assert_eq!(verdicts, [by_place(0), by_id(1), by_id(2), by_id(3), FRESH, FRESH]);
}

#[test]
fn checkpointer_replays_with_ids() {
    let held = owner([user("hi"), reasoning("rs_1"), assistant("msg_1", "Hello.")]);
    let verdicts = held.reconcile([
        user("hi"),
        reasoning("rs_1"),
        assistant("msg_1", "Hello."),
        user("How are you?"),
    ]);
    assert_eq!(verdicts, [by_place(0), by_id(1), by_id(2), FRESH]);
}

#[test]
fn replay_without_assistant_ids_is_matched() {
    let held = owner([
        user("What is the weather?"),
        reasoning("rs_1"),
        call_under("fc_1", "call_1", "{}"),
        output("call_1", "20 degrees"),
        reasoning("rs_2"),
        assistant("msg_1", "It is warm."),
    ]);
    let verdicts = held.reconcile([
        user("What is the weather?"),
        reasoning("rs_1"),
        call_under("fc_1", "call_1", "{}"),
        output("call_1", "20 degrees"),
        reasoning("rs_2"),
        bare_assistant("It is warm."),
        user("Thanks."),
    ]);
    assert_eq!(
        verdicts,
        [by_place(0), by_id(1), by_id(2), by_call(3), by_id(4), by_place(5), FRESH]
    );
}

#[test]
fn replay_without_anchor_has_one_new_message() {
    let held = owner([
        user("hi"),
        assistant("msg_1", "Hello."),
        user("yes"),
        assistant("msg_2", "Good."),
        user("yes"),
        assistant("msg_3", "Very good."),
    ]);
    let verdicts = held.reconcile([
        user("hi"),
        bare_assistant("Hello."),
        user("yes"),
        bare_assistant("Good."),
        user("yes"),
        bare_assistant("Very good."),
        user("yes"),
    ]);
    let replayed = (0..6).map(by_place);
    assert_eq!(verdicts, replayed.chain([FRESH]).collect::<Vec<_>>());
}

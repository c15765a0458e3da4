//! Agent Framework's history providers and workflows: no ids, no calls, no reasoning, and old
//! outputs that are sent again.

use super::{FRESH, by_call, by_place, owner};
use crate::item::Item;
use crate::item::given::{assistant, bare_assistant, call_under, output, reasoning, user};

fn two_turns() -> [Item; 7] {
    [
        user("hi"),
        assistant("msg_1", "Hello."),
        user("What is the weather?"),
        reasoning("rs_1"),
        call_under("fc_1", "call_1", "{}"),
        output("call_1", "20 degrees"),
        assistant("msg_2", "It is warm."),
    ]
}

#[test]
fn replay_on_top_of_server_state_adds_one_message() {
    let verdicts = owner(two_turns()).reconcile([
        user("hi"),
        bare_assistant("Hello."),
        user("What is the weather?"),
        output("call_1", "20 degrees"),
        bare_assistant("It is warm."),
        user("Thanks."),
    ]);
    assert_eq!(verdicts, [by_place(0), by_place(1), by_place(2), by_call(5), by_place(6), FRESH]);
}

#[test]
fn turns_after_the_last_output_are_resent() {
    let later = [user("Thanks."), assistant("msg_3", "Welcome."), user("yes")];
    let held = owner(two_turns().into_iter().chain(later));
    let verdicts = held.reconcile([
        user("hi"),
        bare_assistant("Hello."),
        user("What is the weather?"),
        output("call_1", "20 degrees"),
        bare_assistant("It is warm."),
        user("Thanks."),
        bare_assistant("Welcome."),
        user("yes"),
        user("yes"),
    ]);
    let places = [by_place(0), by_place(1), by_place(2), by_call(5), by_place(6)];
    let later = [by_place(7), by_place(8), by_place(9), FRESH];
    assert_eq!(verdicts, places.into_iter().chain(later).collect::<Vec<_>>());
}

#[test]
fn tool_steps_within_a_turn_are_deltas() {
    let held = owner(two_turns().into_iter().take(5));
    assert_eq!(held.reconcile([output("call_1", "20 degrees")]), [FRESH]);
}

#[test]
fn shortened_output_of_a_replay_keeps_the_stored_one() {
    let verdicts = owner(two_turns()).reconcile([
        user("What is the weather?"),
        output("call_1", "20…"),
        bare_assistant("It is warm."),
        user("Thanks."),
    ]);
    let cut = super::differing(by_call(5));
    assert_eq!(verdicts, [by_place(2), cut, by_place(6), FRESH]);
}

#[test]
fn workflow_history_is_resent_except_other_agents_messages() {
    let held = owner([user("hi"), assistant("msg_1", "Hello.")]);
    let verdicts = held.reconcile([
        user("hi"),
        bare_assistant("Hello."),
        bare_assistant("Hello from another agent."),
    ]);
    assert_eq!(verdicts, [by_place(0), by_place(1), FRESH]);
}

#[test]
fn history_ending_with_the_last_answer_is_resent() {
    let history =
        || [user("hi"), bare_assistant("Hello."), user("How are you?"), bare_assistant("Well.")];
    let held = owner(history());
    assert_eq!(held.reconcile(history()), [0, 1, 2, 3].map(by_place));
}

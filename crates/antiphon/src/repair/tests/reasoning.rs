//! Reasoning that no item of the model follows, as an abort leaves it in a client's history.

use super::{Action, assert_accepted, check, input_refusal, left_of, refusal, repairs, texts};
use crate::item::Item;
use crate::item::given::{assistant, call, item, output, reasoning, reference, user};

#[test]
fn orphaned_reasoning_is_dropped_between_turns() {
    let given = [
        user("hi"),
        reasoning("rs_1"),
        assistant("msg_1", "Hello."),
        user("Tell me a story."),
        reasoning("rs_orphan"),
        user("A short one."),
    ];
    assert_eq!(
        refusal(&given),
        input_refusal(
            "Item 'rs_orphan' of type 'reasoning' was provided without its required following item."
        )
    );
    assert_eq!(repairs(&given), [(4, "lone_reasoning", Action::Dropped)]);
    let expected = [&given[..4], &given[5..]].concat();
    assert_eq!(texts(&left_of(&given)), texts(&expected));
}

#[test]
fn complete_turn_is_not_an_orphan() {
    assert_accepted(&[user("hi"), reasoning("rs_1"), assistant("msg_1", "Hello.")]);
}

#[test]
fn reasoning_that_led_to_a_call_is_no_orphan() {
    assert_accepted(&[user("hi"), reasoning("rs_1"), call("call_1", "{}"), output("call_1", "ok")]);
}

#[test]
fn consecutive_reasoning_before_an_answer_stays() {
    assert_accepted(&[reasoning("rs_1"), reasoning("rs_2"), assistant("msg_1", "Hello.")]);
}

#[test]
fn all_orphans_are_dropped() {
    let given = [
        reasoning("rs_1"),
        reasoning("rs_2"),
        user("hi"),
        reasoning("rs_3"),
        user("Are you there?"),
        reasoning("rs_4"),
    ];
    let repaired: Vec<usize> = repairs(&given).iter().map(|(position, ..)| *position).collect();
    assert_eq!(repaired, [0, 1, 3, 5]);
    assert_eq!(texts(&left_of(&given)), [given[2].text(), given[4].text()]);
}

#[test]
fn history_of_one_orphan_becomes_empty() {
    assert_eq!(left_of(&[reasoning("rs_1")]), []);
}

#[test]
fn orphan_without_id_is_dropped() {
    let anonymous = item(r#"{"type":"reasoning","summary":[],"encrypted_content":"gAAAA"}"#);
    let given = [user("hi"), anonymous, user("Are you there?")];
    assert_eq!(repairs(&given), [(1, "lone_reasoning", Action::Dropped)]);
    assert_eq!(left_of(&given).len(), 2);
}

#[test]
fn second_repair_of_orphans_changes_nothing() {
    let once = left_of(&[user("hi"), reasoning("rs_1"), user("Are you there?")]);
    assert_accepted(&once);
}

#[test]
fn output_does_not_follow_reasoning() {
    let given = [call("call_1", "{}"), reasoning("rs_1"), output("call_1", "ok")];
    assert_eq!(repairs(&given), [(1, "lone_reasoning", Action::Dropped)]);
}

#[test]
fn reasoning_before_a_dropped_call_is_a_consequence() {
    let screen = item(
        r#"{"type":"computer_call","id":"cu_1","call_id":"call_1","status":"completed",
            "action":{"type":"screenshot"},"pending_safety_checks":[]}"#,
    );
    let given = [user("hi"), reasoning("rs_1"), screen, user("bye")];
    let faults: Vec<_> = check(&given).iter().map(|(_, fault)| fault.name()).collect();
    assert_eq!(faults, ["unanswered_call"]);
    assert_eq!(texts(&left_of(&given)), [given[0].text(), given[3].text()]);
}

#[test]
fn placeholder_does_not_separate_reasoning_from_its_items() {
    let screen = item(
        r#"{"type":"computer_call","id":"cu_1","call_id":"call_2","status":"completed",
            "action":{"type":"screenshot"},"pending_safety_checks":[]}"#,
    );
    let given = [
        call("call_1", "{}"),
        reasoning("rs_1"),
        screen,
        assistant("msg_1", "Hello."),
        user("bye"),
    ];
    let left = left_of(&given);
    assert_accepted(&left);
    let kept = [given[1].text(), given[3].text(), given[4].text()];
    assert_eq!(texts(&left)[2..], kept, "the output stands right behind its call");
}

#[test]
fn empty_assistant_message_follows_reasoning() {
    assert_accepted(&[user("hi"), reasoning("rs_1"), assistant("msg_1", "")]);
}

#[test]
fn unknown_kinds_and_references_follow_reasoning() {
    let newer: Item = item(r#"{"type":"hologram_call","id":"h_1"}"#);
    assert_accepted(&[reasoning("rs_1"), newer]);
    assert_accepted(&[reasoning("rs_1"), reference("msg_1")]);
}

//! Rule 3: system and developer messages, which clients put before every request.

use super::{FRESH, by_id, by_place, equal_to, owner};
use crate::item::given::{assistant, developer, item, system, user};
use crate::reconcile::Verdict;

const SUPERSEDES: Verdict = Verdict::Replaces;

#[test]
fn equal_instructions_are_resent() {
    let held = owner([system("Be brief."), user("hi"), assistant("msg_1", "Hello.")]);
    assert_eq!(held.reconcile([system("Be brief."), user("bye")]), [equal_to(0), FRESH]);
}

#[test]
fn equal_instructions_before_a_replay_are_resent() {
    let held = owner([system("Be brief."), user("hi"), assistant("msg_1", "Hello.")]);
    let verdicts = held.reconcile_users([system("Be brief."), user("hi"), user("bye")]);
    assert_eq!(verdicts, [equal_to(0), by_place(1), FRESH]);
}

#[test]
fn changed_instructions_replace_the_stored_ones() {
    let held = owner([system("It is Monday."), user("hi"), assistant("msg_1", "Hello.")]);
    let verdicts = held.reconcile_users([system("It is Tuesday."), user("hi"), user("bye")]);
    assert_eq!(verdicts, [SUPERSEDES, by_place(1), FRESH]);
}

#[test]
fn changed_instructions_alone_make_no_replay() {
    let held = owner([system("It is Monday."), user("hi"), assistant("msg_1", "Hello.")]);
    let verdicts = held.reconcile([system("It is Tuesday."), user("hi")]);
    assert_eq!(verdicts, [SUPERSEDES, FRESH]);
}

#[test]
fn first_instructions_of_a_conversation_are_new() {
    let held = owner([user("hi"), assistant("msg_1", "Hello.")]);
    assert_eq!(held.reconcile([system("Be brief."), user("bye")]), [FRESH, FRESH]);
}

#[test]
fn instructions_are_compared_per_role() {
    let held = owner([system("You are Ada."), developer("It is Monday."), user("hi")]);
    let verdicts =
        held.reconcile([system("You are Ada."), developer("It is Tuesday."), user("bye")]);
    assert_eq!(verdicts, [equal_to(0), SUPERSEDES, FRESH]);
}

#[test]
fn superseded_instructions_can_return() {
    let held = owner([system("It is Monday."), user("hi"), system("It is Tuesday."), user("yes")])
        .with_replacements([2]);
    assert_eq!(held.reconcile([system("It is Monday."), user("bye")]), [SUPERSEDES, FRESH]);
}

#[test]
fn last_of_several_instructions_may_change() {
    let held = owner([system("You are Ada."), system("It is Monday."), user("hi")]);
    let verdicts = held.reconcile([system("You are Ada."), system("It is Tuesday."), user("bye")]);
    assert_eq!(verdicts, [equal_to(0), SUPERSEDES, FRESH]);
}

#[test]
fn change_of_the_first_instruction_replaces_all() {
    let held = owner([system("It is Monday."), system("You are Ada."), user("hi")]);
    let verdicts = held.reconcile([system("It is Tuesday."), system("You are Ada."), user("bye")]);
    assert_eq!(verdicts, [SUPERSEDES, SUPERSEDES, FRESH]);
}

#[test]
fn additional_last_instruction_is_new() {
    let held = owner([system("You are Ada."), user("hi")]);
    let verdicts = held.reconcile([system("You are Ada."), system("It is Monday."), user("bye")]);
    assert_eq!(verdicts, [equal_to(0), FRESH, FRESH]);
}

#[test]
fn additional_first_instruction_is_new() {
    let held = owner([system("You are Ada."), user("hi")]);
    let verdicts = held.reconcile([system("It is Monday."), system("You are Ada."), user("bye")]);
    assert_eq!(verdicts, [FRESH, equal_to(0), FRESH]);
}

#[test]
fn resent_instruction_is_not_replaced_by_its_neighbour() {
    let held = owner([system("It is Monday."), system("You are Ada."), user("hi")]);
    let verdicts = held.reconcile([system("You are Ada."), system("It is Tuesday."), user("bye")]);
    assert_eq!(verdicts, [equal_to(1), FRESH, FRESH]);
}

#[test]
fn changed_instructions_after_the_first_message_are_new() {
    let held = owner([system("Be brief."), user("hi"), assistant("msg_1", "Hello.")]);
    let verdicts = held.reconcile([user("bye"), system("Be kind.")]);
    assert_eq!(verdicts, [FRESH, FRESH]);
}

#[test]
fn instructions_under_a_stored_id_are_resent_or_replaced() {
    let under_id = |text: &str| {
        item(format!(r#"{{"type":"message","id":"msg_0","role":"system","content":"{text}"}}"#))
    };
    let held = || owner([under_id("It is Monday."), user("hi")]);
    assert_eq!(held().reconcile([under_id("It is Monday."), user("bye")]), [by_id(0), FRESH]);
    assert_eq!(held().reconcile([under_id("It is Tuesday."), user("bye")]), [SUPERSEDES, FRESH]);
}

//! System and developer messages, which clients put before every request.

use super::{FRESH, by_id, by_place, equal_to, owner};
use crate::item::given::{assistant, developer, item, system, user};
use crate::reconcile::Verdict;

const SUPERSEDES: Verdict = Verdict::Supersedes;

#[test]
fn equal_instructions_are_re_sent() {
    let held = owner([system("Be brief."), user("hi"), assistant("msg_1", "Hello.")]);
    assert_eq!(held.reconcile([system("Be brief."), user("bye")]), [equal_to(0), FRESH]);
}

#[test]
fn equal_instructions_before_a_replay_are_re_sent_with_it() {
    let held = owner([system("Be brief."), user("hi"), assistant("msg_1", "Hello.")]);
    let verdicts = held.reconcile([system("Be brief."), user("hi"), user("bye")]);
    assert_eq!(verdicts, [equal_to(0), by_place(1), FRESH]);
}

#[test]
fn other_instructions_take_the_place_of_what_is_held() {
    let held = owner([system("It is Monday."), user("hi"), assistant("msg_1", "Hello.")]);
    let verdicts = held.reconcile([system("It is Tuesday."), user("hi"), user("bye")]);
    assert_eq!(verdicts, [SUPERSEDES, by_place(1), FRESH]);
}

#[test]
fn new_instructions_alone_do_not_make_a_replay() {
    let held = owner([system("It is Monday."), user("hi"), assistant("msg_1", "Hello.")]);
    let verdicts = held.reconcile([system("It is Tuesday."), user("hi")]);
    assert_eq!(verdicts, [SUPERSEDES, FRESH]);
}

#[test]
fn the_first_instructions_of_a_conversation_are_new() {
    let held = owner([user("hi"), assistant("msg_1", "Hello.")]);
    assert_eq!(held.reconcile([system("Be brief."), user("bye")]), [FRESH, FRESH]);
}

#[test]
fn each_role_compares_with_its_own() {
    let held = owner([system("You are Ada."), developer("It is Monday."), user("hi")]);
    let verdicts =
        held.reconcile([system("You are Ada."), developer("It is Tuesday."), user("bye")]);
    assert_eq!(verdicts, [equal_to(0), SUPERSEDES, FRESH]);
}

#[test]
fn instructions_that_were_superseded_take_their_place_again() {
    let held = owner([system("It is Monday."), user("hi"), system("It is Tuesday."), user("yes")])
        .superseding([2]);
    assert_eq!(held.reconcile([system("It is Monday."), user("bye")]), [SUPERSEDES, FRESH]);
}

#[test]
fn of_several_the_last_may_change() {
    let held = owner([system("You are Ada."), system("It is Monday."), user("hi")]);
    let verdicts = held.reconcile([system("You are Ada."), system("It is Tuesday."), user("bye")]);
    assert_eq!(verdicts, [equal_to(0), SUPERSEDES, FRESH]);
}

#[test]
fn where_the_first_of_several_changes_they_change_together() {
    let held = owner([system("It is Monday."), system("You are Ada."), user("hi")]);
    let verdicts = held.reconcile([system("It is Tuesday."), system("You are Ada."), user("bye")]);
    assert_eq!(verdicts, [SUPERSEDES, SUPERSEDES, FRESH]);
}

#[test]
fn one_more_than_is_held_is_new() {
    let held = owner([system("You are Ada."), user("hi")]);
    let verdicts = held.reconcile([system("You are Ada."), system("It is Monday."), user("bye")]);
    assert_eq!(verdicts, [equal_to(0), FRESH, FRESH]);
}

#[test]
fn one_more_before_what_is_held_is_new_and_takes_no_place() {
    let held = owner([system("You are Ada."), user("hi")]);
    let verdicts = held.reconcile([system("It is Monday."), system("You are Ada."), user("bye")]);
    assert_eq!(verdicts, [FRESH, equal_to(0), FRESH]);
}

#[test]
fn what_is_re_sent_is_not_superseded_by_its_neighbour() {
    let held = owner([system("It is Monday."), system("You are Ada."), user("hi")]);
    let verdicts = held.reconcile([system("You are Ada."), system("It is Tuesday."), user("bye")]);
    assert_eq!(verdicts, [equal_to(1), FRESH, FRESH]);
}

#[test]
fn instructions_within_the_talk_are_new_where_they_differ() {
    let held = owner([system("Be brief."), user("hi"), assistant("msg_1", "Hello.")]);
    let verdicts = held.reconcile([user("bye"), system("Be kind.")]);
    assert_eq!(verdicts, [FRESH, FRESH]);
}

#[test]
fn instructions_under_a_held_id_are_known_by_it_and_replaced_where_they_differ() {
    let under_id = |text: &str| {
        item(format!(r#"{{"type":"message","id":"msg_0","role":"system","content":"{text}"}}"#))
    };
    let held = || owner([under_id("It is Monday."), user("hi")]);
    assert_eq!(held().reconcile([under_id("It is Monday."), user("bye")]), [by_id(0), FRESH]);
    assert_eq!(held().reconcile([under_id("It is Tuesday."), user("bye")]), [SUPERSEDES, FRESH]);
}

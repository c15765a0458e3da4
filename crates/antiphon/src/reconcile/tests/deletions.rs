//! Items that were deleted at their owner and that a client still has.

use super::{FRESH, by_call, by_id, by_place, equal_to, owner};
use crate::item::Item;
use crate::item::given::{assistant, bare_assistant, call_under, item, output, system, user};
use crate::reconcile::Verdict;

const DELETED: Verdict = Verdict::Deleted;

fn conversation() -> [Item; 6] {
    [
        user("hi"),
        assistant("msg_1", "Hello."),
        user("My password is swordfish."),
        call_under("fc_1", "call_1", "{}"),
        output("call_1", "swordfish"),
        assistant("msg_2", "Noted."),
    ]
}

#[test]
fn deleted_item_is_matched_by_id_despite_new_content() {
    let held = owner(conversation()).without([1]);
    let verdicts = held.reconcile([assistant("msg_1", "Good day."), user("bye")]);
    assert_eq!(verdicts, [DELETED, FRESH]);
}

#[test]
fn deleted_user_message_is_matched_by_id() {
    let hi = |text: &str| {
        item(format!(r#"{{"type":"message","id":"msg_0","role":"user","content":"{text}"}}"#))
    };
    let held = owner([hi("hi"), assistant("msg_1", "Hello.")]).without([0]);
    assert_eq!(held.reconcile([hi("hello"), user("bye")]), [DELETED, FRESH]);
}

#[test]
fn deleted_message_is_matched_by_position() {
    let held = owner(conversation()).without([2]);
    let verdicts = held.reconcile([
        user("hi"),
        bare_assistant("Hello."),
        user("My password is swordfish."),
        output("call_1", "swordfish"),
        bare_assistant("Noted."),
        user("bye"),
    ]);
    let expected = [by_place(0), by_place(1), DELETED, by_call(4), by_place(5), FRESH];
    assert_eq!(verdicts, expected);
}

#[test]
fn client_may_have_deleted_the_message_too() {
    let held = owner(conversation()).without([2]);
    let verdicts = held.reconcile([user("hi"), output("call_1", "swordfish"), user("bye")]);
    assert_eq!(verdicts, [by_place(0), by_call(4), FRESH]);
}

#[test]
fn items_next_to_a_deleted_one_are_resent() {
    let held = owner([user("hi"), assistant("msg_1", "Let me see."), assistant("msg_2", "Hello.")])
        .without([1]);
    let verdicts = held.reconcile([
        user("hi"),
        assistant("msg_1", "Let me see."),
        bare_assistant("Hello."),
        user("bye"),
    ]);
    assert_eq!(verdicts, [by_place(0), DELETED, by_place(2), FRESH]);
}

#[test]
fn deleted_output_is_matched_by_its_call() {
    let held = owner(conversation()).without([4]);
    let verdicts = held.reconcile([
        user("My password is swordfish."),
        call_under("fc_1", "call_1", "{}"),
        output("call_1", "swordfish"),
        user("bye"),
    ]);
    assert_eq!(verdicts, [by_place(2), by_id(3), DELETED, FRESH]);
}

#[test]
fn output_of_a_deleted_call_is_resent() {
    let held = owner(conversation()).without([3]);
    let verdicts = held.reconcile([
        call_under("fc_1", "call_1", "{}"),
        output("call_1", "swordfish"),
        user("bye"),
    ]);
    assert_eq!(verdicts, [DELETED, by_call(4), FRESH]);
}

#[test]
fn single_message_matches_the_undeleted_of_two_equal_ones() {
    let held = || {
        owner([user("yes"), assistant("msg_1", "Fine."), user("yes"), assistant("msg_2", "Good.")])
            .without([0])
    };
    assert_eq!(held().reconcile_users([user("yes"), user("bye")]), [by_place(2), FRESH]);
    let both = held().reconcile_users([user("yes"), user("yes"), user("bye")]);
    assert_eq!(both, [DELETED, by_place(2), FRESH]);
}

#[test]
fn deleted_instructions_stay_deleted_until_they_change() {
    let held = || {
        owner([system("Be brief."), system("Be kind."), user("hi"), assistant("msg_1", "Hello.")])
            .without([0])
    };
    let verdicts = held().reconcile([system("Be brief."), system("Be kind."), user("bye")]);
    assert_eq!(verdicts, [DELETED, equal_to(1), FRESH]);
    let changed = held().reconcile([system("Be bold."), user("bye")]);
    assert_eq!(changed, [Verdict::Replaces, FRESH]);
}

#[test]
fn everything_may_be_deleted() {
    let held = || owner(conversation()).without(0..6);
    assert_eq!(held().reconcile([user("Who are you?")]), [FRESH]);
    assert_eq!(held().reconcile_users([user("hi"), user("bye")]), [DELETED, FRESH]);
}

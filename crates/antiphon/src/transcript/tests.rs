//! What a model gets of a transcript.

use super::{HeldItem, Transcript};
use crate::item::given::{assistant, developer, system, user};
use crate::item::{FingerprintKey, Item, ItemId};

const KEY: FingerprintKey = FingerprintKey::new([0; 16]);

/// `item` held under an id made from its number.
fn held(number: usize, item: &Item) -> HeldItem {
    HeldItem::new(ItemId::from(format!("msg_{number}")), item, KEY, None)
}

fn superseding(number: usize, item: &Item) -> HeldItem {
    HeldItem { supersedes: true, ..held(number, item) }
}

fn deleted(item: HeldItem) -> HeldItem {
    HeldItem { body: None, ..item }
}

fn view(items: impl IntoIterator<Item = HeldItem>) -> Vec<usize> {
    items.into_iter().collect::<Transcript>().view()
}

#[test]
fn new_instructions_stand_where_the_old_ones_stood() {
    let transcript = [
        held(0, &system("Be brief.")),
        held(1, &user("hi")),
        superseding(2, &system("Be kind.")),
        held(3, &user("bye")),
    ];
    assert_eq!(view(transcript), [2, 1, 3]);
}

#[test]
fn each_role_has_its_own_instructions() {
    let transcript = [
        held(0, &system("You are Ada.")),
        held(1, &developer("Be brief.")),
        held(2, &user("hi")),
        superseding(3, &system("You are Bob.")),
        held(4, &user("bye")),
    ];
    assert_eq!(view(transcript), [3, 1, 2, 4]);
}

#[test]
fn instructions_that_came_together_take_the_place_of_as_many() {
    let transcript = [
        held(0, &system("You are Ada.")),
        held(1, &system("It is Monday.")),
        held(2, &system("Be brief.")),
        held(3, &user("hi")),
        superseding(4, &system("It is Tuesday.")),
        superseding(5, &system("Be kind.")),
        held(6, &user("bye")),
    ];
    assert_eq!(view(transcript), [0, 4, 5, 3, 6]);
}

#[test]
fn instructions_that_superseded_others_can_be_superseded() {
    let transcript = [
        held(0, &system("It is Monday.")),
        held(1, &user("hi")),
        superseding(2, &system("It is Tuesday.")),
        held(3, &user("hi again")),
        superseding(4, &system("It is Wednesday.")),
    ];
    assert_eq!(view(transcript), [4, 1, 3]);
}

#[test]
fn deleted_items_are_not_in_the_view_and_bring_nothing_back() {
    let transcript = [
        held(0, &system("It is Monday.")),
        held(1, &user("hi")),
        deleted(superseding(2, &system("It is Tuesday."))),
        deleted(held(3, &assistant("msg_3", "hello"))),
    ];
    assert_eq!(view(transcript), [1]);
}

#[test]
fn a_deleted_predecessor_does_not_cost_other_instructions_their_place() {
    let transcript = [
        held(0, &system("You are Ada.")),
        deleted(held(1, &system("It is Monday."))),
        held(2, &user("hi")),
        superseding(3, &system("It is Tuesday.")),
    ];
    assert_eq!(view(transcript), [0, 3, 2]);
}

#[test]
fn a_live_copy_hides_a_tombstone_of_its_id() {
    let gone = deleted(held(1, &user("hi")));
    let anew = held(1, &user("hi again"));
    let transcript: Transcript = [gone, anew].into_iter().collect();
    assert_eq!(transcript.position(&"msg_1".into()), Some(1));
}

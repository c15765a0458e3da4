//! What a model gets of a transcript.

use super::{Body, HeldItem, Transcript};
use crate::item::given::{
    assistant, call, compaction, developer, item, output, reasoning, system, user,
};
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
    HeldItem { body: Body::Erased, ..item }
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

#[test]
fn behind_a_compaction_stays_all_that_came_and_before_it_what_the_user_said() {
    let transcript = [
        held(0, &user("hi")),
        held(1, &assistant("msg_1", "hello")),
        held(2, &user("and?")),
        held(3, &compaction("cmp_3")),
        held(4, &assistant("msg_4", "well")),
        held(5, &user("bye")),
    ];
    assert_eq!(view(transcript), [0, 2, 3, 4, 5]);
}

#[test]
fn of_several_compactions_the_latest_counts() {
    let transcript = [
        held(0, &user("hi")),
        held(1, &compaction("cmp_1")),
        held(2, &assistant("msg_2", "hello")),
        held(3, &user("and?")),
        held(4, &compaction("cmp_4")),
    ];
    assert_eq!(view(transcript), [0, 3, 4]);
}

#[test]
fn instructions_in_force_stay_through_a_compaction() {
    let transcript = [
        held(0, &system("It is Monday.")),
        held(1, &developer("Be brief.")),
        held(2, &user("hi")),
        superseding(3, &system("It is Tuesday.")),
        held(4, &compaction("cmp_4")),
        superseding(5, &developer("Be kind.")),
        held(6, &user("bye")),
    ];
    assert_eq!(view(transcript), [3, 5, 2, 4, 6]);
}

#[test]
fn what_a_caller_set_for_all_that_follows_stays_through_a_compaction() {
    let transcript = [
        held(0, &item(r#"{"type":"additional_tools","role":"developer","tools":[]}"#)),
        held(1, &item(r#"{"type":"configuration_update","reasoning":{"effort":"low"}}"#)),
        held(2, &assistant("msg_2", "hello")),
        held(3, &compaction("cmp_3")),
    ];
    assert_eq!(view(transcript), [0, 1, 3]);
}

#[test]
fn a_call_that_is_answered_behind_a_compaction_stays_with_its_reasoning() {
    let transcript = [
        held(0, &user("weather?")),
        held(1, &reasoning("rs_1")),
        held(2, &assistant("msg_2", "I look.")),
        held(3, &call("call_a", "{}")),
        held(4, &call("call_b", "{}")),
        held(5, &output("call_a", "10 degrees")),
        held(6, &compaction("cmp_6")),
        held(7, &output("call_b", "20 degrees")),
    ];
    assert_eq!(view(transcript), [0, 1, 4, 6, 7]);
}

#[test]
fn a_call_that_still_waits_is_compacted_until_its_output_comes() {
    let waiting = || {
        [
            held(0, &user("weather?")),
            held(1, &call("call_a", "{}")),
            held(2, &compaction("cmp_2")),
            held(3, &user("and?")),
        ]
    };
    assert_eq!(view(waiting()), [0, 2, 3]);
    let answered = waiting().into_iter().chain([held(4, &output("call_a", "10 degrees"))]);
    assert_eq!(view(answered), [0, 1, 2, 3, 4]);
}

#[test]
fn a_deleted_compaction_gives_back_what_it_stood_for() {
    let transcript = [
        held(0, &user("hi")),
        held(1, &compaction("cmp_1")),
        held(2, &assistant("msg_2", "hello")),
        deleted(held(3, &compaction("cmp_3"))),
        held(4, &user("bye")),
    ];
    assert_eq!(view(transcript), [0, 1, 2, 4]);
}

#[test]
fn a_compaction_that_cannot_be_read_is_passed_over_for_an_earlier_one_or_none() {
    let transcript: Transcript = [
        held(0, &user("hi")),
        held(1, &compaction("cmp_1")),
        held(2, &assistant("msg_2", "hello")),
        held(3, &compaction("cmp_3")),
    ]
    .into_iter()
    .collect();
    assert_eq!(transcript.view_behind(Some(1)), [0, 1, 2]);
    assert_eq!(transcript.view_behind(None), [0, 2]);
}

#[test]
fn a_trigger_is_in_the_view_only_while_it_is_the_last_word() {
    let trigger = item(r#"{"type":"compaction_trigger"}"#);
    let triggered = [held(0, &user("hi")), held(1, &trigger)];
    assert_eq!(view(triggered.clone()), [0, 1]);
    let went_on = triggered.into_iter().chain([held(2, &user("bye"))]);
    assert_eq!(view(went_on), [0, 2]);
}

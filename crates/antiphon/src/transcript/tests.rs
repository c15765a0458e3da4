//! The view of a transcript for the model.

use super::{Body, HeldItem, Transcript};
use crate::item::given::{
    assistant, call, compaction, developer, item, output, reasoning, system, user,
};
use crate::item::{FingerprintKey, Item, ItemId};

const KEY: FingerprintKey = FingerprintKey::new([0; 16]);

/// `item` in a transcript, with an id from its number.
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
fn new_instructions_take_the_old_position() {
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
fn consecutive_instructions_replace_as_many() {
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
fn replacing_instructions_can_be_replaced() {
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
fn deleted_items_leave_the_view() {
    let transcript = [
        held(0, &system("It is Monday.")),
        held(1, &user("hi")),
        deleted(superseding(2, &system("It is Tuesday."))),
        deleted(held(3, &assistant("msg_3", "hello"))),
    ];
    assert_eq!(view(transcript), [1]);
}

#[test]
fn deleted_predecessor_keeps_other_positions() {
    let transcript = [
        held(0, &system("You are Ada.")),
        deleted(held(1, &system("It is Monday."))),
        held(2, &user("hi")),
        superseding(3, &system("It is Tuesday.")),
    ];
    assert_eq!(view(transcript), [0, 3, 2]);
}

#[test]
fn live_copy_hides_tombstone() {
    let gone = deleted(held(1, &user("hi")));
    let anew = held(1, &user("hi again"));
    let transcript: Transcript = [gone, anew].into_iter().collect();
    assert_eq!(transcript.position(&"msg_1".into()), Some(1));
}

#[test]
fn compaction_keeps_user_messages_and_later_items() {
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
fn latest_compaction_counts() {
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
fn current_instructions_survive_compaction() {
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
fn settings_survive_compaction() {
    let transcript = [
        held(0, &item(r#"{"type":"additional_tools","role":"developer","tools":[]}"#)),
        held(1, &item(r#"{"type":"configuration_update","reasoning":{"effort":"low"}}"#)),
        held(2, &assistant("msg_2", "hello")),
        held(3, &compaction("cmp_3")),
    ];
    assert_eq!(view(transcript), [0, 1, 3]);
}

#[test]
fn call_answered_after_compaction_stays_with_reasoning() {
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
fn unanswered_call_is_compacted_until_answered() {
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
fn deleted_compaction_restores_earlier_items() {
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
fn view_can_skip_the_latest_compaction() {
    let transcript: Transcript = [
        held(0, &user("hi")),
        held(1, &compaction("cmp_1")),
        held(2, &assistant("msg_2", "hello")),
        held(3, &compaction("cmp_3")),
    ]
    .into_iter()
    .collect();
    assert_eq!(transcript.view_after_compaction(Some(1)), [0, 1, 2]);
    assert_eq!(transcript.view_after_compaction(None), [0, 2]);
}

#[test]
fn compaction_trigger_is_visible_only_at_the_end() {
    let trigger = item(r#"{"type":"compaction_trigger"}"#);
    let triggered = [held(0, &user("hi")), held(1, &trigger)];
    assert_eq!(view(triggered.clone()), [0, 1]);
    let went_on = triggered.into_iter().chain([held(2, &user("bye"))]);
    assert_eq!(view(went_on), [0, 2]);
}

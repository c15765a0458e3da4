//! Tests of the items that sessions store and remove again.

use crate::rules::{
    FirstWrite, ItemSource, PreparedItem, WriterAction, count_tail_to_pop, find_items_to_save,
    find_unsaved,
};
use antiphon::item::Item;
use antiphon::item::given::{assistant, call, item, output, user};

fn copied(items: &[Item]) -> Vec<PreparedItem> {
    items.iter().map(|item| PreparedItem { source: None, item: item.clone() }).collect()
}

#[test]
fn behaviour_37_history_that_a_callback_reorders_or_copies_is_not_appended_again() {
    let history = [user("one"), assistant("msg_1", "two")];
    let input = [user("three")];
    let reordered = copied(&[history[1].clone(), input[0].clone(), history[0].clone()]);
    assert_eq!(find_items_to_save(&history, &input, &reordered), [1]);
    let doubled = copied(&[user("one"), user("one"), assistant("msg_1", "two"), user("three")]);
    assert_eq!(find_items_to_save(&history, &input, &doubled), [3]);
    let received = [(ItemSource::Input(0), &input[0]), (ItemSource::History(0), &history[0])];
    let received =
        received.map(|(source, item)| PreparedItem { source: Some(source), item: item.clone() });
    assert_eq!(find_items_to_save(&history, &input, &received), [0]);
}

#[test]
fn behaviour_38_new_input_that_equals_stored_input_is_saved() {
    let (history, input) = ([user("hi"), assistant("msg_1", "Hello.")], [user("hi")]);
    let prepared = copied(&[user("hi"), assistant("msg_1", "Hello."), user("hi")]);
    assert_eq!(find_items_to_save(&history, &input, &prepared), [2]);
    let without_history = copied(&[user("hi")]);
    assert_eq!(find_items_to_save(&history, &input, &without_history), [0]);
}

#[test]
fn item_created_by_a_callback_is_saved() {
    let prepared = copied(&[user("one"), user("made up"), user("three")]);
    assert_eq!(find_items_to_save(&[user("one")], &[user("three")], &prepared), [1, 2]);
}

#[test]
fn behaviour_39_a_tail_that_does_not_match_is_not_popped() {
    let stored = [user("one"), user("two"), user("three")];
    assert_eq!(count_tail_to_pop(&stored, &[user("two"), user("three")]), Some(2));
    assert_eq!(count_tail_to_pop(&stored, &[user("two")]), None);
    assert_eq!(count_tail_to_pop(&stored, &[user("2"), user("three")]), None);
    assert_eq!(count_tail_to_pop(&stored[..1], &stored), None);
}

#[test]
fn behaviour_40_a_resumed_approval_saves_nothing_twice() {
    let placeholder = item(r#"{"type":"tool_approval_item","call_id":"call_2"}"#);
    let before = [call("call_1", "{}"), call("call_2", "{}"), output("call_1", "ok")];
    let paused = [&before[..], &[placeholder]].concat();
    assert_eq!(find_unsaved(&[], &paused), [0, 1, 2]);
    let resumed = [
        call("call_1", "{}"),
        call("call_2", "{}"),
        output("call_2", "approved"),
        output("call_1", "ok"),
    ];
    assert_eq!(find_unsaved(&before, &resumed), [2]);
}

#[test]
fn repeated_answer_is_saved_again() {
    let message = item(r#"{"type":"message","role":"assistant","content":"Done."}"#);
    assert_eq!(
        find_unsaved(std::slice::from_ref(&message), &[message.clone(), message.clone()]),
        [1]
    );
}

#[test]
fn behaviour_41_concurrent_first_writes_make_one_conversation() {
    let mut first = FirstWrite::default();
    assert_eq!(
        [first.ask(1), first.ask(2), first.ask(3)],
        [WriterAction::Create, WriterAction::Wait, WriterAction::Wait]
    );
    assert_eq!(first.created("conv_1"), [2, 3]);
    assert_eq!(first.ask(2), WriterAction::Use("conv_1"));
    assert_eq!(first.created("conv_2"), [] as [u64; 0]);
    assert_eq!(first.ask(4), WriterAction::Use("conv_1"));
}

#[test]
fn next_writer_creates_after_a_failed_first_write() {
    let mut first = FirstWrite::<&str>::default();
    let _ = [first.ask(1), first.ask(2), first.ask(3)];
    assert_eq!(first.failed(2), None, "one that waits has left");
    assert_eq!(first.failed(1), Some(3));
    assert_eq!(first.failed(3), None);
    assert_eq!(first, FirstWrite::Absent);
}

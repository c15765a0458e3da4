//! Clients that send only new items: all of them are fresh, even if their text was sent before.

use super::{Doubts, FRESH, ReplayStyle, by_id, by_place, owner};
use crate::item::given::{assistant, bare_assistant, call_under, item, output, reference, user};

#[test]
fn equal_delta_is_a_second_message() {
    let held = owner([user("yes"), assistant("msg_1", "Fine.")]);
    assert_eq!(held.reconcile([user("yes")]), [FRESH]);
}

#[test]
fn repeated_earlier_text_is_new() {
    let held =
        owner([user("hi"), assistant("msg_1", "Hello."), user("yes"), assistant("msg_2", "Fine.")]);
    assert_eq!(held.reconcile([user("yes"), user("bye")]), [FRESH, FRESH]);
}

#[test]
fn repeated_first_message_is_new_after_later_ones() {
    let held =
        owner([user("hi"), assistant("msg_1", "Hello."), user("yes"), assistant("msg_2", "Fine.")]);
    assert_eq!(held.reconcile([user("hi"), user("Are you there?")]), [FRESH, FRESH]);
}

#[test]
fn history_with_nothing_new_is_a_delta() {
    let held = owner([user("hi"), assistant("msg_1", "Hello.")]);
    assert_eq!(held.reconcile([user("hi")]), [FRESH]);
}

/// The input may be a replay with one new message, or two new messages of which the first repeats
/// the only one so far. It is a replay only if the client is known to resend user messages.
#[test]
fn only_message_and_another_are_new() {
    let held = || owner([user("hi"), assistant("msg_1", "Hello.")]);
    let incoming = || [user("hi"), user("Are you there?")];
    let found = held().reconcile_with(ReplayStyle::Unknown, incoming());
    assert_eq!(found.verdicts, [FRESH, FRESH]);
    assert_eq!(found.doubts, Doubts { repeated: vec![0], ..Doubts::default() });
    let found = held().reconcile_with(ReplayStyle::UsersOnly, incoming());
    assert_eq!(found.verdicts, [by_place(0), FRESH]);
    assert_eq!(found.doubts, Doubts::default());
}

#[test]
fn same_order_twice_is_two_orders() {
    let order = || user("Buy 10 shares");
    let held = owner([order(), assistant("msg_1", "Bought.")]);
    let found = held.reconcile_with(ReplayStyle::Unknown, [order(), order()]);
    assert_eq!(found.verdicts, [FRESH, FRESH]);
    assert_eq!(found.doubts.repeated, [0]);
}

#[test]
fn repeated_earlier_text_with_an_output_is_new() {
    let held = owner([
        user("hi"),
        assistant("msg_1", "Hello."),
        user("What is the weather?"),
        call_under("fc_1", "call_1", "{}"),
    ]);
    assert_eq!(held.reconcile([user("hi"), output("call_1", "ok")]), [FRESH, FRESH]);
}

#[test]
fn repeated_earlier_text_after_a_reference_is_new() {
    let held = owner([
        user("hi"),
        assistant("msg_1", "Hello."),
        user("yes"),
        assistant("msg_2", "Fine."),
        user("no"),
    ]);
    let verdicts = held.reconcile([reference("msg_1"), user("yes"), user("bye")]);
    assert_eq!(verdicts, [by_id(1), FRESH, FRESH]);
}

#[test]
fn stored_greeting_is_resent() {
    let held = owner([assistant("msg_1", "How can I help?")]);
    assert_eq!(
        held.reconcile([bare_assistant("How can I help?"), user("hi")]),
        [by_place(0), FRESH]
    );
}

#[test]
fn output_for_a_pending_call_is_new() {
    let held = owner([user("hi"), call_under("fc_1", "call_1", "{}")]);
    assert_eq!(held.reconcile([output("call_1", "ok")]), [FRESH]);
}

#[test]
fn output_can_come_with_the_next_message() {
    let held = owner([user("hi"), call_under("fc_1", "call_1", "{}")]);
    assert_eq!(held.reconcile([output("call_1", "ok"), user("hi")]), [FRESH, FRESH]);
}

#[test]
fn same_image_with_other_text_is_new() {
    let picture = |text: &str| {
        item(format!(
            r#"{{"role":"user","content":[{{"type":"input_image","image_url":"https://a/1.png"}},
                {{"type":"input_text","text":"{text}"}}]}}"#
        ))
    };
    let held = owner([picture("What is this?"), assistant("msg_1", "A cat.")]);
    assert_eq!(held.reconcile([picture("And its name?"), user("Tom?")]), [FRESH, FRESH]);
}

#[test]
fn everything_is_new_in_an_empty_conversation() {
    let incoming = [user("hi"), assistant("msg_1", "Hello."), user("hi")];
    assert_eq!(owner([]).reconcile(incoming), [FRESH, FRESH, FRESH]);
}

#[test]
fn empty_input_has_no_verdicts() {
    assert_eq!(owner([user("hi")]).reconcile([]), []);
}

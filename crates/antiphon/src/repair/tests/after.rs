//! Input for a server that holds the conversation before it, of which only heads are known.

use super::{Action, texts};
use crate::item::given::{assistant, call, call_under, item, output, reasoning, user};
use crate::item::{FingerprintKey, Item};
use crate::repair::{OnUnansweredCall, Policy, Repaired, blocking_items, repair_after};
use crate::transcript::HeldItem;

const KEY: FingerprintKey = FingerprintKey::new([0; 16]);

/// An item without its body, as a ledger stores it.
fn outline(item: &Item) -> Item {
    let held = HeldItem::new("item".into(), item, KEY, None).without_body();
    held.outline().expect("it lives")
}

/// The repaired input: `fresh`, for a server that holds `held`.
fn sent_with(held: &[Item], fresh: &[Item], policy: &Policy) -> Repaired {
    let items: Vec<Item> = held.iter().map(outline).chain(fresh.iter().cloned()).collect();
    repair_after(held.len(), &items, policy)
}

fn sent(held: &[Item], fresh: &[Item]) -> Repaired {
    sent_with(held, fresh, &Policy::default())
}

/// The expected result if `fresh` needs no repair after `held` other items.
fn unchanged(held: usize, fresh: &[Item]) -> Repaired {
    let sources = (held..held + fresh.len()).map(Some).collect();
    Repaired { items: fresh.to_vec(), sources, repairs: vec![] }
}

/// Position, id and fault of the held items that no input can repair.
fn left(held: &[Item], fresh: &[Item]) -> Vec<(usize, Option<String>, &'static str)> {
    let items: Vec<Item> = held.iter().map(outline).chain(fresh.iter().cloned()).collect();
    let found = blocking_items(held.len(), &items);
    let received = found.into_iter().map(|it| (it.position, it.id, it.fault.name()));
    received.map(|(at, id, fault)| (at, id.map(|id| id.to_string()), fault)).collect()
}

fn screen() -> Item {
    item(
        r#"{"type":"computer_call","id":"cu_1","call_id":"call_1","status":"completed",
            "action":{"type":"screenshot"},"pending_safety_checks":[]}"#,
    )
}

fn screenshot() -> Item {
    item(
        r#"{"type":"computer_call_output","call_id":"call_1",
            "output":{"type":"computer_screenshot","image_url":"data:"}}"#,
    )
}

#[test]
fn valid_continuation_is_unchanged() {
    let held = [user("hi"), call_under("fc_1", "call_1", "{}")];
    let fresh = [output("call_1", "ok"), user("Thanks.")];
    assert_eq!(sent(&held, &fresh), unchanged(held.len(), &fresh));
}

#[test]
fn unanswered_held_call_is_answered_first() {
    let held = [user("hi"), call_under("fc_1", "call_1", "{}")];
    let repaired = sent(&held, &[user("never mind")]);
    let placeholder = concat!(
        r#"{"type":"function_call_output","call_id":"call_1","#,
        r#""output":"No output was recorded for this call."}"#,
    );
    assert_eq!(texts(&repaired.items), [placeholder, user("never mind").text()]);
    let repair = &repaired.repairs[0];
    assert_eq!((repair.position, repair.action), (1, Action::Answered));
    assert_eq!(repair.id, Some("fc_1".into()));
}

#[test]
fn answered_held_call_gets_no_second_output() {
    let held = [user("hi"), call_under("fc_1", "call_1", "{}")];
    let first = sent(&held, &[user("never mind")]);
    let now = [held.to_vec(), first.items].concat();
    assert_eq!(sent(&now, &[]), unchanged(now.len(), &[]));
}

#[test]
fn only_unanswered_parallel_calls_get_placeholders() {
    let held = [user("Both?"), call("call_1", "{}"), call("call_2", "{}")];
    let fresh = [output("call_2", "20 degrees")];
    let call_ids = |repaired: Repaired| -> Vec<String> {
        let ids = repaired.items.iter().filter_map(|item| item.head().call_id.clone());
        ids.map(|id| id.to_string()).collect()
    };
    assert_eq!(call_ids(sent(&held, &fresh)), ["call_1", "call_2"]);
    let answered_in_part = [held.to_vec(), fresh.to_vec()].concat();
    assert_eq!(call_ids(sent(&answered_in_part, &[user("Go on.")])), ["call_1"]);
}

#[test]
fn cut_short_held_call_is_answered() {
    let cut = item(
        r#"{"type":"function_call","id":"fc_1","status":"incomplete","call_id":"call_1",
            "name":"get_weather","arguments":"{\"ci"}"#,
    );
    let repaired = sent(&[user("hi"), cut], &[user("Go on.")]);
    assert_eq!(repaired.items.len(), 2);
    assert_eq!(repaired.repairs[0].action, Action::Answered);
}

#[test]
fn held_call_is_answered_if_the_policy_drops_calls() {
    let policy = Policy { unanswered_calls: OnUnansweredCall::Drop, ..Policy::default() };
    let held = [user("hi"), call("call_1", "{}")];
    let fresh = [call("call_2", "{}"), user("never mind")];
    let repaired = sent_with(&held, &fresh, &policy);
    let ids: Vec<_> = repaired.items.iter().map(|item| item.head().call_id.clone()).collect();
    assert_eq!(ids, [Some("call_1".into()), None]);
}

#[test]
fn fresh_items_stay_after_their_held_reasoning() {
    let held = [user("Both?"), call("call_1", "{}"), reasoning("rs_1")];
    let late = assistant("msg_1", "Let me see.");
    let repaired = sent(&held, &[late.clone(), user("Go on.")]);
    let kinds: Vec<_> = repaired.items.iter().map(|item| item.head().kind.as_str()).collect();
    assert_eq!(kinds, ["message", "function_call_output", "message"]);
    assert_eq!(left(&held, &[late, user("Go on.")]), []);
}

#[test]
fn new_message_under_a_held_id_loses_it() {
    let mine = |text: &str| item(format!(r#"{{"id":"msg_1","role":"user","content":"{text}"}}"#));
    let repaired = sent(&[mine("hi")], &[mine("bye")]);
    assert_eq!(texts(&repaired.items), [r#"{"role":"user","content":"bye"}"#]);
}

#[test]
fn exchange_under_a_held_call_id_gets_another() {
    let held = [call("call_0", r#"{"city":"Bonn"}"#), output("call_0", "10 degrees")];
    let fresh = [call("call_0", r#"{"city":"Rome"}"#), output("call_0", "20 degrees")];
    let repaired = sent(&held, &fresh);
    let ids: Vec<_> =
        repaired.items.iter().filter_map(|item| item.head().call_id.clone()).collect();
    assert_eq!(ids, ["call_0_2".into(), "call_0_2".into()]);
}

#[test]
fn lone_reasoning_is_dropped_or_reported_as_unmendable() {
    let held = [user("hi"), reasoning("rs_1")];
    let fresh = [user("Are you there?"), reasoning("rs_2"), user("Hello?")];
    let repaired = sent(&held, &fresh);
    assert_eq!(texts(&repaired.items), [fresh[0].text(), fresh[2].text()]);
    assert_eq!(repaired.repairs.iter().map(|repair| repair.position).collect::<Vec<_>>(), [3]);
    assert_eq!(left(&held, &fresh), [(1, Some("rs_1".into()), "lone_reasoning")]);
}

#[test]
fn dropped_item_does_not_follow_reasoning() {
    let held = [user("hi"), call("call_1", "{}"), output("call_1", "ok"), reasoning("rs_1")];
    let fresh = [call("call_1", "{}"), user("Are you there?")];
    assert_eq!(texts(&sent(&held, &fresh).items), [fresh[1].text()]);
    assert_eq!(left(&held, &fresh), [(3, Some("rs_1".into()), "lone_reasoning")]);
}

#[test]
fn held_call_without_placeholder_is_unmendable() {
    let held = [user("hi"), screen()];
    assert_eq!(sent(&held, &[user("bye")]).repairs, []);
    let lost = (1, Some("cu_1".into()), "unanswered_call");
    assert_eq!(left(&held, &[user("bye")]), [lost]);
    assert_eq!(left(&held, &[screenshot()]), []);
}

#[test]
fn reasoning_before_an_unmendable_call_is_unmendable() {
    let held = [user("hi"), reasoning("rs_1"), screen(), user("Well?"), assistant("msg_1", "Yes.")];
    let found = left(&held, &[]);
    let reasoning = (1, Some("rs_1".into()), "lone_reasoning");
    assert_eq!(found, [reasoning, (2, Some("cu_1".into()), "unanswered_call")]);
}

#[test]
fn held_output_without_its_call_is_unmendable() {
    let held = [user("hi"), output("call_1", "ok"), assistant("msg_1", "Done.")];
    assert_eq!(left(&held, &[user("bye")]), [(1, None, "output_without_call")]);
}

#[test]
fn approval_can_stay_open() {
    let request = item(r#"{"type":"mcp_approval_request","id":"mcpr_1","name":"rm"}"#);
    let held = [user("hi"), request];
    assert_eq!(left(&held, &[user("bye")]), []);
    assert_eq!(sent(&held, &[user("bye")]).items.len(), 1);
}

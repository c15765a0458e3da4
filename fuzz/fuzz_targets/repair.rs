//! For any list of items, a repair leaves no fault and loses nothing. If a server already stores
//! part of the list, the continuation sends each item once.
#![no_main]

use antiphon::Item;
use antiphon::json::Object;
use antiphon::repair::{Action, Policy, Repaired, blocking_items, check, repair, repair_after};
use antiphon_fuzz::history::items;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let given = items(bytes);
    let faults = check(&given);
    let repaired = repair(&given);
    assert_eq!(check(&repaired.items), [], "a repaired list has no fault");
    let again = repair(&repaired.items);
    assert_eq!(again.repairs, [], "a second repair changes nothing");
    assert_eq!(texts(&again.items), texts(&repaired.items));
    if faults.is_empty() {
        assert_eq!(texts(&repaired.items), texts(&given), "a valid list is unchanged");
    }
    every_change_is_told(&given, &repaired);
    what_stays_keeps_its_order(&given, &repaired);
    what_is_sent_is_sent_once(&given, bytes.len() % (given.len() + 1));
});

/// A server stores the first `held` items in a valid form and receives the rest.
fn what_is_sent_is_sent_once(given: &[Item], held: usize) {
    let (held, fresh) = given.split_at(held);
    let held = repair(held).items;
    let behind = |held: &[Item], fresh: &[Item]| {
        repair_after(held.len(), &[held, fresh].concat(), &Policy::default()).items
    };
    let sent = behind(&held, fresh);
    let left = blocking_items(held.len(), &[&held[..], fresh].concat());
    assert!(
        left.iter().all(|item| item.position < held.len()),
        "left-out positions are stored items"
    );
    let now = [held, sent].concat();
    assert_eq!(behind(&now, &[]), [], "a second repair changes nothing");
}

fn texts(items: &[Item]) -> Vec<&str> {
    items.iter().map(Item::text).collect()
}

fn count(repaired: &Repaired, action: Action) -> usize {
    repaired.repairs.iter().filter(|mend| mend.action == action).count()
}

fn every_change_is_told(given: &[Item], repaired: &Repaired) {
    assert_eq!(texts(given) != texts(&repaired.items), !repaired.repairs.is_empty());
    assert!(repaired.repairs.iter().all(|mend| mend.position < given.len()));
    let answered = count(repaired, Action::Answered);
    assert!(
        repaired.items.len() <= given.len() + answered,
        "a repair adds only placeholder outputs"
    );
}

/// Ids may change. Otherwise the remaining items equal the given ones, in the same order.
fn what_stays_keeps_its_order(given: &[Item], repaired: &Repaired) {
    let mut given = given.iter().map(without_ids);
    for left in &repaired.items {
        let text = without_ids(left);
        if !is_placeholder_item(&text) {
            assert!(given.any(|item| item == text), "{text} is out of order");
        }
    }
}

/// Whether the item is a placeholder output that a repair inserts.
fn is_placeholder_item(text: &str) -> bool {
    text.contains("No output was recorded for this call.")
        || text == r#"{"type":"tool_search_output","tools":[],"status":"incomplete"}"#
}

fn without_ids(item: &Item) -> String {
    let mut object: Object<'_> = item.object();
    for field in ["id", "call_id", "approval_request_id"] {
        object.remove(field);
    }
    object.to_text()
}

//! Any list of items: after a repair nothing is found, and nothing is lost on the way; and any part of
//! it at a server that keeps it: what is sent behind it is sent once.
#![no_main]

use antiphon::Item;
use antiphon::json::Object;
use antiphon::repair::{Action, Policy, Repaired, check, repair, repair_behind, unmendable};
use antiphon_fuzz::history::items;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let given = items(bytes);
    let faults = check(&given);
    let repaired = repair(&given);
    assert_eq!(check(&repaired.items), [], "nothing is left to mend");
    let again = repair(&repaired.items);
    assert_eq!(again.mends, [], "twice is once");
    assert_eq!(texts(&again.items), texts(&repaired.items));
    if faults.is_empty() {
        assert_eq!(texts(&repaired.items), texts(&given), "what is well formed is unchanged");
    }
    every_change_is_told(&given, &repaired);
    what_stays_keeps_its_order(&given, &repaired);
    what_is_sent_is_sent_once(&given, bytes.len() % (given.len() + 1));
});

/// A server holds the first `held` items, well formed as it would, and is sent the rest.
fn what_is_sent_is_sent_once(given: &[Item], held: usize) {
    let (held, fresh) = given.split_at(held);
    let held = repair(held).items;
    let behind = |held: &[Item], fresh: &[Item]| {
        repair_behind(held.len(), &[held, fresh].concat(), &Policy::default()).items
    };
    let sent = behind(&held, fresh);
    let left = unmendable(held.len(), &[&held[..], fresh].concat());
    assert!(left.iter().all(|item| item.position < held.len()), "what is held is told");
    let now = [held, sent].concat();
    assert_eq!(behind(&now, &[]), [], "twice is once");
}

fn texts(items: &[Item]) -> Vec<&str> {
    items.iter().map(Item::text).collect()
}

fn count(repaired: &Repaired, action: Action) -> usize {
    repaired.mends.iter().filter(|mend| mend.action == action).count()
}

fn every_change_is_told(given: &[Item], repaired: &Repaired) {
    assert_eq!(texts(given) != texts(&repaired.items), !repaired.mends.is_empty());
    assert!(repaired.mends.iter().all(|mend| mend.position < given.len()));
    let answered = count(repaired, Action::Answered);
    assert!(repaired.items.len() <= given.len() + answered, "items come from answers alone");
}

/// Ids may change; all else of what stays is what was given, in its order.
fn what_stays_keeps_its_order(given: &[Item], repaired: &Repaired) {
    let mut given = given.iter().map(without_ids);
    for left in &repaired.items {
        let text = without_ids(left);
        if !is_made_up(&text) {
            assert!(given.any(|item| item == text), "{text} is out of its order");
        }
    }
}

/// Whether it is an answer that a repair gives where there is none.
fn is_made_up(text: &str) -> bool {
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

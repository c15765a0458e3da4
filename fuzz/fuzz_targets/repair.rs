//! Any list of items: after a repair nothing is found, and nothing is lost on the way.
#![no_main]

use antiphon::Item;
use antiphon::json::Object;
use antiphon::repair::{Action, Repaired, check, repair};
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
});

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

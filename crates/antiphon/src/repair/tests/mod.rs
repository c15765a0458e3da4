//! Repair, fault by fault, with the provider's own words for each.

mod behind;
mod calls;
mod held;
mod ids;
mod kinds;
mod orphaned;
mod policy;
mod reasoning;
mod repeated_ids;
mod required;

use super::{Action, check, repair};
use crate::item::Item;

/// What a repair left, as texts.
fn texts(items: &[Item]) -> Vec<&str> {
    items.iter().map(Item::text).collect()
}

/// What a repair of `given` leaves.
fn left_of(given: &[Item]) -> Vec<Item> {
    repair(given).items
}

/// What was mended: position, fault, action.
fn mends(given: &[Item]) -> Vec<(usize, &'static str, Action)> {
    let mends = repair(given).mends;
    mends.iter().map(|mend| (mend.position, mend.fault.name(), mend.action)).collect()
}

/// What a provider answers to `given`: status, code, param and message of its first refusal.
fn refusal(given: &[Item]) -> (u16, Option<&'static str>, String, String) {
    let (position, fault) = check(given).into_iter().next().expect("a provider refuses it");
    let refusal = fault.refusal(position);
    (refusal.status, refusal.code, refusal.param.unwrap_or_default(), refusal.message)
}

/// What a provider says of the input as a whole.
fn of_input(message: &str) -> (u16, Option<&'static str>, String, String) {
    (400, None, "input".to_owned(), message.to_owned())
}

/// A provider accepts `items` as they are: nothing is found, nothing changed.
fn assert_accepted(items: &[Item]) {
    assert_eq!(check(items), []);
    assert_eq!(texts(&left_of(items)), texts(items));
}

#[test]
fn an_empty_list_is_in_order() {
    assert_accepted(&[]);
}

#[test]
fn faults_of_an_items_own_form_are_named_first() {
    use crate::item::given::{call, item, user};
    let given = [call("call_1", "{}"), user("hi"), call("", "{}")];
    let names: Vec<_> = check(&given).into_iter().map(|(at, fault)| (at, fault.name())).collect();
    let expected = [(2, "empty_call_id"), (0, "unanswered_call"), (2, "unanswered_call")];
    assert_eq!(names, expected);
    let malformed = [call("call_1", "{}"), item(r#"{"id":"x","role":"user","content":"hi"}"#)];
    assert_eq!(check(&malformed)[0].1.name(), "malformed_id");
}

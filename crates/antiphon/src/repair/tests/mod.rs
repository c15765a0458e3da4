//! Repairs of each fault, with the provider's error text.

mod after;
mod calls;
mod held;
mod ids;
mod kinds;
mod missing_call_ids;
mod orphaned;
mod policy;
mod reasoning;
mod repeated_ids;
mod required;

use super::{Action, check, repair};
use crate::item::Item;

/// The items as JSON texts.
fn texts(items: &[Item]) -> Vec<&str> {
    items.iter().map(Item::text).collect()
}

/// The repaired items.
fn left_of(given: &[Item]) -> Vec<Item> {
    repair(given).items
}

/// The repairs: position, fault, action.
fn repairs(given: &[Item]) -> Vec<(usize, &'static str, Action)> {
    let repairs = repair(given).repairs;
    repairs.iter().map(|repair| (repair.position, repair.fault.name(), repair.action)).collect()
}

/// The provider's error for `given`: status, code, param and message of the first fault.
fn refusal(given: &[Item]) -> (u16, Option<&'static str>, String, String) {
    let (position, fault) = check(given).into_iter().next().expect("a provider refuses it");
    let refusal = fault.refusal(position);
    (refusal.status, refusal.code, refusal.param.unwrap_or_default(), refusal.message)
}

/// The provider's error for the input as a whole.
fn input_refusal(message: &str) -> (u16, Option<&'static str>, String, String) {
    (400, None, "input".to_owned(), message.to_owned())
}

/// Asserts that a provider accepts `items`: no fault is found, and a repair changes nothing.
fn assert_accepted(items: &[Item]) {
    assert_eq!(check(items), []);
    assert_eq!(texts(&left_of(items)), texts(items));
}

#[test]
fn empty_list_is_accepted() {
    assert_accepted(&[]);
}

#[test]
fn faults_of_form_come_first() {
    use crate::item::given::{call, item, user};
    let given = [call("call_1", "{}"), user("hi"), call("", "{}")];
    let names: Vec<_> = check(&given).into_iter().map(|(at, fault)| (at, fault.name())).collect();
    let expected = [(2, "empty_call_id"), (0, "unanswered_call"), (2, "unanswered_call")];
    assert_eq!(names, expected);
    let malformed = [call("call_1", "{}"), item(r#"{"id":"x","role":"user","content":"hi"}"#)];
    assert_eq!(check(&malformed)[0].1.name(), "malformed_id");
}

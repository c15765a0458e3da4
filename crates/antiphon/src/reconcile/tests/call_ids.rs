//! Calls whose client leaves the ids out, as clients of the Gemini API may.

use std::collections::BTreeSet;

use super::{KEY, Owner, owner};
use crate::item::Item;
use crate::item::given::{bare_assistant, call, output, user};
use crate::reconcile::adopt_call_ids;

const BONN: &str = r#"{"city":"Bonn","days":2}"#;
const ROME: &str = r#"{"city":"Rome","days":2}"#;

/// The call ids of the items that have one, after those that begin with `derived` were replaced.
fn adopted(held: Owner, input: impl IntoIterator<Item = Item>) -> Vec<String> {
    let input: Vec<Item> = input.into_iter().collect();
    let ids = |items: &[Item]| {
        let ids = items.iter().filter_map(|item| item.head().call_id.as_ref());
        ids.map(|id| id.as_str().to_owned()).collect::<Vec<_>>()
    };
    let derived: BTreeSet<String> =
        ids(&input).into_iter().filter(|id| id.starts_with("derived")).collect();
    ids(&adopt_call_ids(&held.0.into_iter().collect(), input, &derived, KEY))
}

#[test]
fn call_and_output_take_the_id_of_the_stored_call() {
    let held = [user("Bonn?"), call("call_a", BONN), call("call_b", ROME)];
    let reformatted = r#"{ "days": 2, "city": "Bonn" }"#;
    let input = [
        user("Bonn?"),
        call("derived_1", reformatted),
        call("derived_2", ROME),
        output("derived_1", "cold"),
        output("derived_2", "warm"),
    ];
    assert_eq!(adopted(owner(held), input), ["call_a", "call_b", "call_a", "call_b"]);
}

#[test]
fn equal_calls_are_matched_from_the_last_on() {
    let held = || {
        owner([
            call("call_a", BONN),
            output("call_a", "cold"),
            bare_assistant("Cold."),
            user("And now?"),
            call("call_b", BONN),
        ])
    };
    let first = [call("derived_1", BONN), output("derived_1", "cold")];
    let second = [user("And now?"), call("derived_2", BONN), output("derived_2", "warm")];
    let whole = first.iter().chain(&second).cloned();
    assert_eq!(adopted(held(), whole), ["call_a", "call_a", "call_b", "call_b"]);
    assert_eq!(adopted(held(), second), ["call_b", "call_b"]);
}

#[test]
fn call_with_another_output_is_another_call() {
    let held = || owner([call("call_a", BONN), output("call_a", "cold")]);
    let old = [call("derived_1", BONN), output("derived_1", "cold")];
    let new = [call("derived_2", BONN), output("derived_2", "warm")];
    let input = old.iter().chain(&new).cloned();
    assert_eq!(adopted(held(), input), ["call_a", "call_a", "derived_2", "derived_2"]);
    assert_eq!(adopted(held(), [call("derived_1", ROME)]), ["derived_1"]);
}

#[test]
fn placeholder_output_agrees_with_every_output() {
    let held = owner([call("call_a", BONN), output("call_a", "[missing]")]).with_placeholders([1]);
    let input = [call("derived_1", BONN), output("derived_1", "cold")];
    assert_eq!(adopted(held, input), ["call_a", "call_a"]);
}

#[test]
fn stored_call_that_the_input_names_is_not_found_again() {
    let held = owner([call("call_a", BONN)]);
    let input = [call("call_a", BONN), call("derived_1", BONN)];
    assert_eq!(adopted(held, input), ["call_a", "derived_1"]);
}

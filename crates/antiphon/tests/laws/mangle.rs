//! Faults that clients, aborts and servers add to a history.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

/// One fault of a list of items.
#[derive(Clone, Debug)]
pub(crate) enum Mishap {
    Lose(Index),
    Repeat(Index, Index),
    Swap(Index, Index),
    CutOff(Index),
    ReplayWhole,
    /// Fields of one item get other values.
    Set(Index, &'static str, Value),
    /// One item gets a field's value from another item.
    Copy(Index, &'static str, Index),
    StripIds,
}

pub(crate) fn mishaps() -> impl Strategy<Value = Vec<Mishap>> {
    proptest::collection::vec(mishap(), 1..6)
}

fn mishap() -> impl Strategy<Value = Mishap> {
    let at = any::<Index>;
    let field = || proptest::sample::select(&["id", "call_id"][..]);
    prop_oneof![
        3 => at().prop_map(Mishap::Lose),
        3 => (at(), at()).prop_map(|(from, to)| Mishap::Repeat(from, to)),
        2 => (at(), at()).prop_map(|(one, two)| Mishap::Swap(one, two)),
        1 => at().prop_map(Mishap::CutOff),
        1 => Just(Mishap::ReplayWhole),
        4 => (at(), assignment()).prop_map(|(at, (field, value))| Mishap::Set(at, field, value)),
        3 => (at(), field(), at()).prop_map(|(at, field, from)| Mishap::Copy(at, field, from)),
        1 => Just(Mishap::StripIds),
    ]
}

fn assignment() -> impl Strategy<Value = (&'static str, Value)> {
    let long = "x".repeat(70);
    let values = vec![
        ("id", Value::Null),
        ("id", json!("")),
        ("id", json!("item_abc")),
        ("id", json!("msg_é")),
        ("id", json!(long)),
        ("call_id", Value::Null),
        ("call_id", json!("")),
        ("call_id", json!("call")),
        ("call_id", json!("call_2")),
        ("call_id", json!(long)),
        ("status", json!("incomplete")),
        ("status", json!("in_progress")),
        ("encrypted_content", Value::Null),
        ("encrypted_content", json!("gAAAA")),
        ("type", json!("acme:telemetry")),
        ("type", json!("item_reference")),
        ("role", json!("user")),
    ];
    proptest::sample::select(values)
}

/// Applies the faults to the list.
pub(crate) fn mangled(mut items: Vec<Value>, mishaps: &[Mishap]) -> Vec<Value> {
    for mishap in mishaps {
        if !items.is_empty() {
            mishap.happen_to(&mut items);
        }
    }
    items.retain(is_item);
    items
}

/// Whether it is an item: a message needs a role.
fn is_item(item: &Value) -> bool {
    match item["type"].as_str() {
        Some("message") | None => item["role"].is_string(),
        Some(_) => true,
    }
}

impl Mishap {
    fn happen_to(&self, items: &mut Vec<Value>) {
        let length = items.len();
        match self {
            Self::Lose(at) => drop(items.remove(at.index(length))),
            Self::Repeat(from, to) => {
                let item = items[from.index(length)].clone();
                items.insert(to.index(length + 1), item);
            }
            Self::Swap(one, two) => items.swap(one.index(length), two.index(length)),
            Self::CutOff(at) => items.truncate(at.index(length) + 1),
            Self::ReplayWhole => items.extend(items.clone()),
            Self::Set(at, field, value) => items[at.index(length)][field] = value.clone(),
            Self::Copy(at, field, from) => {
                let value = items[from.index(length)][field].clone();
                items[at.index(length)][field] = value;
            }
            Self::StripIds => {
                let ids = items.iter_mut().filter_map(|item| item.get_mut("id"));
                ids.for_each(|id| *id = Value::Null);
            }
        }
    }
}

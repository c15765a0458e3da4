//! Items whose reasoning is missing.

use std::collections::HashMap;

use crate::item::given::{output, reasoning, user};
use crate::item::{Item, ItemId};
use crate::repair::{Action, Policy, made_with, repair_with};

fn sequence(items: &[Item]) -> HashMap<ItemId, ItemId> {
    made_with(items.iter().map(|item| (item.head(), item.head().id.as_ref())))
}

fn thought_and_called() -> [Item; 4] {
    let call =
        r#"{"type":"function_call","id":"fc_X","call_id":"call_1","name":"f","arguments":"{}"}"#;
    [user("hi"), reasoning("rs_Y"), Item::parse(call.into()).unwrap(), output("call_1", "ok")]
}

#[test]
fn call_without_its_reasoning_loses_its_id() {
    let all = thought_and_called();
    let policy = Policy { made_with: sequence(&all), ..Policy::default() };
    let lacking = [all[0].clone(), all[2].clone(), all[3].clone()];

    let repaired = repair_with(&lacking, &policy).unwrap();

    assert_eq!(
        repaired.repairs[0].fault.refusal(1).message,
        "Item 'fc_X' of type 'function_call' was provided without its required 'reasoning' item: \
         'rs_Y'."
    );
    assert_eq!(repaired.repairs[0].action, Action::IdRemoved);
    assert_eq!(repaired.items[1].head().id, None);
    let again = repair_with(&repaired.items, &policy).unwrap();
    assert!(again.repairs.is_empty());
}

#[test]
fn call_after_its_reasoning_is_unchanged() {
    let all = thought_and_called();
    let policy = Policy { made_with: sequence(&all), ..Policy::default() };
    assert_eq!(repair_with(&all, &policy).unwrap().items, all);
}

#[test]
fn user_message_ends_the_scope_of_reasoning() {
    let all = thought_and_called();
    let known = sequence(&all);
    assert_eq!(known.len(), 1);
    assert_eq!(known[&ItemId::from("fc_X")], ItemId::from("rs_Y"));
}

//! Laws of the results.

use antiphon_surface::{
    RepairedItem, RepairedItems, check, filter_orphaned_reasoning, repair, strip,
};
use bytes::Bytes;
use proptest::prelude::*;

/// Items of one conversation, some of which exclude each other.
const ITEMS: [&str; 14] = [
    r#"{"role":"user","content":"hi"}"#,
    r#"{"role":"assistant","content":"Hello."}"#,
    r#"{"type":"message","id":"msg_1","role":"assistant","content":"Hello."}"#,
    r#"{"type":"message","id":"item_abc","role":"assistant","content":"Hello.","n":1e2}"#,
    r#"{"type":"reasoning","id":"rs_1","summary":[]}"#,
    r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAAA"}"#,
    r#"{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{}"}"#,
    r#"{"type":"function_call","call_id":"call_1","name":"f","arguments":"{\"n\":2}"}"#,
    r#"{"type":"function_call","call_id":"","name":"f","arguments":"{}"}"#,
    r#"{"type":"function_call_output","call_id":"call_1","output":"one"}"#,
    r#"{"type":"function_call_output","call_id":"call_1","output":"two"}"#,
    r#"{"type":"function_call_output","call_id":"","output":"three"}"#,
    r#"{"type":"item_reference","id":"msg_1"}"#,
    r#"{"type":"hologram","id":"holo_1","depth":[1e2,9007199254740993]}"#,
];

const POLICIES: [&str; 4] = ["", "drop", "outputs=keep", "references=drop"];

fn lists() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(&ITEMS[..]), 0..10)
}

fn array(items: &[impl AsRef<str>]) -> Bytes {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    format!("[{}]", items.join(",")).into()
}

/// The positions of the unchanged items.
fn given(mended: &RepairedItems) -> Vec<usize> {
    let position = |place: &RepairedItem| match place {
        RepairedItem::Unchanged(position) => Some(*position),
        RepairedItem::Changed(_) => None,
    };
    mended.items.iter().filter_map(position).collect()
}

/// The list to send.
fn sent(mended: &RepairedItems, items: &[&str]) -> Vec<String> {
    let text = |place: &RepairedItem| match place {
        RepairedItem::Unchanged(position) => items[*position].to_owned(),
        RepairedItem::Changed(item) => item.get().to_owned(),
    };
    mended.items.iter().map(text).collect()
}

/// Whether each unchanged item occurs once, in order.
fn keeps_order(mended: &RepairedItems, items: &[&str]) -> bool {
    let given = given(mended);
    given.is_sorted_by(|one, two| one < two) && given.iter().all(|at| *at < items.len())
}

proptest! {
    #[test]
    fn unchanged_items_occur_once_in_order(
        items in lists(),
        held in prop::option::of(lists()),
        policy in prop::sample::select(&POLICIES[..]),
    ) {
        let held = held.map(|held| array(&held));
        if let Ok(mended) = repair(&array(&items), held.as_ref(), policy) {
            prop_assert!(keeps_order(&mended, &items));
        }
        prop_assert!(keeps_order(&filter_orphaned_reasoning(&array(&items)).unwrap(), &items));
        prop_assert!(keeps_order(&strip(&array(&items), "").unwrap(), &items));
    }

    #[test]
    fn repaired_list_has_no_faults(items in lists()) {
        let mended = repair(&array(&items), None, "").unwrap();
        let sent = array(&sent(&mended, &items));
        prop_assert_eq!(check(&sent, None).unwrap(), vec![]);
        let again = repair(&sent, None, "reject").unwrap();
        prop_assert_eq!(given(&again), (0..mended.items.len()).collect::<Vec<_>>());
        prop_assert_eq!((again.items.len(), again.repairs), (mended.items.len(), vec![]));
    }
}

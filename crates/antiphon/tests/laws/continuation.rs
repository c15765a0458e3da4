//! Properties of the input for a server that stores the conversation. The judge sees what the
//! server sees: its own items, followed by the sent items.

use antiphon::item::FingerprintKey;
use antiphon::repair::{Held, Policy, check_held, repair_held};
use antiphon::{HeldItem, Item, ItemId, Transcript};
use proptest::prelude::*;
use serde_json::Value;

use crate::history::{End, History, Numbering, items, turns, user};
use crate::judge::judge;
use crate::mangle::{mangled, mishaps};

const KEY: FingerprintKey = FingerprintKey::new([0; 16]);

fn values(items: &[Item]) -> Vec<Value> {
    let value = |item: &Item| serde_json::from_str(item.text()).expect("an item is JSON");
    items.iter().map(value).collect()
}

fn transcript(items: &[Item]) -> Transcript {
    let held = items.iter().enumerate().map(|(position, item)| {
        let id = item.head().id.clone().unwrap_or_else(|| ItemId::from(format!("#{position}")));
        HeldItem::new(id, item, KEY, None)
    });
    held.collect()
}

/// A conversation with unanswered calls at its end, and a client's next turn: a replay of all of
/// it, and new items.
fn continuations() -> impl Strategy<Value = (Vec<Item>, Vec<Item>)> {
    (turns(), mishaps()).prop_map(|(turns, mishaps)| {
        let history = History::from_turns(&turns, Numbering::Unique, End::Waiting);
        let held = history.items();
        let mut incoming = values(&held);
        incoming.extend(history.outputs_to_come.iter().map(|piece| piece.json.clone()));
        incoming.push(user("And now something else."));
        (held, items(&mangled(incoming, &mishaps)))
    })
}

proptest! {
    #[test]
    fn held_and_sent_items_are_accepted((held, incoming) in continuations()) {
        let transcript = transcript(&held);
        match repair_held(Held::Items(&transcript, KEY), &incoming, &Policy::default()) {
            Ok(continuation) => {
                let whole = [values(&held), values(&continuation.items)].concat();
                prop_assert_eq!(judge(&whole), Ok(()));
            }
            Err(refused) => {
                let unanswered = refused.refusal().message;
                prop_assert_eq!(refused.position, None);
                let kinds = ["computer call", "program", "multi agent call"];
                let texts = kinds.map(|kind| format!("No tool output found for {kind} "));
                prop_assert!(texts.iter().any(|text| unanswered.starts_with(text)));
            }
        }
    }

    #[test]
    fn new_turn_needs_no_repair(turns in turns()) {
        let history = History::from_turns(&turns, Numbering::Unique, End::Waiting);
        let transcript = transcript(&history.items());
        let outputs = history.outputs_to_come.iter().map(|piece| &piece.json);
        let incoming = items(outputs);
        let held = Held::Items(&transcript, KEY);
        prop_assert_eq!(check_held(held, &incoming), vec![]);
        let continuation = repair_held(held, &incoming, &Policy::default());
        prop_assert_eq!(continuation.expect("there is nothing to refuse").items, incoming);
    }

    #[test]
    fn every_difference_is_reported((held, incoming) in continuations()) {
        let transcript = transcript(&held);
        let held = Held::Items(&transcript, KEY);
        if let Ok(continuation) = repair_held(held, &incoming, &Policy::default()) {
            let is_changed = continuation.items != incoming;
            prop_assert_eq!(is_changed, !continuation.findings.is_empty());
            prop_assert_eq!(is_changed, !check_held(held, &incoming).is_empty());
        }
    }
}

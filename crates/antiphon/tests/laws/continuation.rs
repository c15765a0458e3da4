//! The laws of input for a server that holds the conversation, judged as that server would: over
//! what it holds and what it is sent together.

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

/// A conversation whose last calls wait, and what a client makes of its next turn: some replay of
/// all of it, and something new.
fn continuations() -> impl Strategy<Value = (Vec<Item>, Vec<Item>)> {
    (turns(), mishaps()).prop_map(|(turns, mishaps)| {
        let history = History::of(&turns, Numbering::Unique, End::Waiting);
        let held = history.items();
        let mut incoming = values(&held);
        incoming.extend(history.outputs_to_come.iter().map(|piece| piece.json.clone()));
        incoming.push(user("And now something else."));
        (held, items(&mangled(incoming, &mishaps)))
    })
}

proptest! {
    #[test]
    fn what_is_held_and_what_is_sent_are_one_conversation((held, incoming) in continuations()) {
        let transcript = transcript(&held);
        match repair_held(Held::Items(&transcript, KEY), &incoming, &Policy::default()) {
            Ok(continuation) => {
                let whole = [values(&held), values(&continuation.items)].concat();
                prop_assert_eq!(judge(&whole), Ok(()));
            }
            Err(refused) => {
                let unanswered = refused.refusal().message;
                prop_assert_eq!(refused.position, None);
                prop_assert!(unanswered.starts_with("No tool output found for computer call"));
            }
        }
    }

    #[test]
    fn the_new_turn_alone_needs_no_mending(turns in turns()) {
        let history = History::of(&turns, Numbering::Unique, End::Waiting);
        let transcript = transcript(&history.items());
        let outputs = history.outputs_to_come.iter().map(|piece| &piece.json);
        let incoming = items(outputs);
        let held = Held::Items(&transcript, KEY);
        prop_assert_eq!(check_held(held, &incoming), vec![]);
        let continuation = repair_held(held, &incoming, &Policy::default());
        prop_assert_eq!(continuation.expect("there is nothing to refuse").items, incoming);
    }

    #[test]
    fn every_difference_is_told((held, incoming) in continuations()) {
        let transcript = transcript(&held);
        let held = Held::Items(&transcript, KEY);
        if let Ok(continuation) = repair_held(held, &incoming, &Policy::default()) {
            let is_changed = continuation.items != incoming;
            prop_assert_eq!(is_changed, !continuation.findings.is_empty());
            prop_assert_eq!(is_changed, !check_held(held, &incoming).is_empty());
        }
    }
}

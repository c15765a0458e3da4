//! Any held history and anything that comes: one verdict an item, each about something that is so.
#![no_main]

use std::collections::HashSet;

use antiphon::reconcile::{Rule, Verdict, reconcile};
use antiphon::{HeldItem, Item, Transcript};
use antiphon_fuzz::history::{Exchange, KEY};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some(Exchange { transcript, incoming }) = Exchange::of(bytes) else { return };
    let verdicts = reconcile(&transcript, &incoming, KEY);
    assert_eq!(verdicts.len(), incoming.len(), "one verdict an item");
    for (position, verdict) in verdicts.iter().enumerate() {
        check(&transcript, position, *verdict);
    }
    replayed_messages_follow_the_held_order(&verdicts);
    the_view_names_every_live_item_once(&transcript);
    what_is_held_is_known_by_its_id(&transcript);
});

fn check(transcript: &Transcript, position: usize, verdict: Verdict) {
    match verdict {
        Verdict::Resent(resent) => {
            let held = transcript.items().get(resent.held).expect("it is held");
            assert!(!held.is_tombstone(), "what is re-sent is there");
        }
        Verdict::Duplicate(first) => assert!(first < position, "the first one came before"),
        Verdict::Deleted => {
            let is_any_deleted = transcript.items().iter().any(HeldItem::is_tombstone);
            assert!(is_any_deleted, "something was deleted");
        }
        Verdict::Fresh
            | Verdict::FreshUnderUsedId
            | Verdict::Supersedes
            | Verdict::LateOutput { .. } => {}
    }
}

/// Messages without ids are known as a sequence: no held one is replayed twice.
fn replayed_messages_follow_the_held_order(verdicts: &[Verdict]) {
    let replayed = verdicts.iter().filter_map(|verdict| match verdict {
        Verdict::Resent(resent) if resent.rule == Rule::Replayed => Some(resent.held),
        _ => None,
    });
    let replayed: Vec<usize> = replayed.collect();
    assert!(replayed.is_sorted_by(|one, two| one < two), "{replayed:?} is out of order");
}

fn the_view_names_every_live_item_once(transcript: &Transcript) {
    let mut view = transcript.view();
    view.sort_unstable();
    let live = transcript.items().iter().enumerate().filter(|(_, item)| !item.is_tombstone());
    assert_eq!(view, live.map(|(position, _)| position).collect::<Vec<_>>());
}

/// A replay of what is held, bytes and all, brings nothing new that has an id of its own.
fn what_is_held_is_known_by_its_id(transcript: &Transcript) {
    let ids: HashSet<_> = transcript.items().iter().map(|item| &item.id).collect();
    let held: Vec<Item> = transcript.items().iter().filter_map(HeldItem::item).collect();
    let verdicts = reconcile(transcript, &held, KEY);
    if ids.len() == transcript.items().len() {
        let with_id = held.iter().zip(&verdicts).filter(|(item, _)| item.head().id.is_some());
        for (item, verdict) in with_id {
            assert!(!verdict.is_fresh(), "{} is held, and {verdict:?}", item.text());
        }
    }
}

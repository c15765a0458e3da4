//! For any stored history and any input, each item gets one verdict, which is true, and which is
//! the same if only heads and fingerprints are stored.
#![no_main]

use std::collections::HashSet;

use antiphon::reconcile::{Resent, Rule, Verdict, reconcile};
use antiphon::{HeldItem, Item, Kind, Transcript};
use antiphon_fuzz::history::{Exchange, KEY};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some(Exchange { transcript, incoming }) = Exchange::of(bytes) else { return };
    let elsewhere: Transcript =
        transcript.items().iter().cloned().map(HeldItem::without_body).collect();
    let [of_bodies, of_heads] = [&transcript, &elsewhere].map(|held| reconciled(held, &incoming));
    if !needs_bodies(&transcript, &incoming) {
        let told = incoming.iter().zip(of_bodies).map(as_far_as_heads_tell);
        assert_eq!(of_heads, told.collect::<Vec<_>>(), "heads and bodies give the same verdicts");
    }
    assert_eq!(transcript.view(), elsewhere.view(), "a view needs no bodies");
    the_view_names_every_live_item_once(&transcript);
    what_is_held_is_known_by_its_id(&transcript);
});

fn reconciled(transcript: &Transcript, incoming: &[Item]) -> Vec<Verdict> {
    let verdicts = reconcile(transcript, incoming, KEY);
    assert_eq!(verdicts.len(), incoming.len(), "one verdict for each item");
    for (position, verdict) in verdicts.iter().enumerate() {
        check(transcript, position, *verdict);
    }
    replayed_messages_follow_the_held_order(&verdicts);
    verdicts
}

/// Whether heads are not enough: another call uses an existing `call_id`, or a compaction has no
/// id.
fn needs_bodies(transcript: &Transcript, incoming: &[Item]) -> bool {
    incoming.iter().any(|item| {
        let exchange = item.head().pairing().and_then(|(_, key)| transcript.exchange(&key));
        let calls = exchange.map_or(&[][..], |exchange| &exchange.calls);
        let says_otherwise = |held: Item| !held.has_same_content(item);
        let is_another = |at: &usize| transcript.items()[*at].item().is_some_and(says_otherwise);
        let is_call = item.head().kind.output().is_some();
        let is_bare_compaction = item.head().kind == Kind::Compaction && item.head().id.is_none();
        is_bare_compaction || is_call && calls.iter().any(is_another)
    })
}

/// The verdict if only heads and fingerprints are stored: a changed item is detected for messages
/// only.
fn as_far_as_heads_tell((item, verdict): (&Item, Verdict)) -> Verdict {
    match verdict {
        Verdict::Resent(resent) if item.head().kind != Kind::Message => {
            Verdict::Resent(Resent { differs: false, ..resent })
        }
        verdict => verdict,
    }
}

fn check(transcript: &Transcript, position: usize, verdict: Verdict) {
    match verdict {
        Verdict::Resent(resent) => {
            let held = transcript.items().get(resent.held).expect("the item is stored");
            assert!(!held.is_tombstone(), "a resent item is not deleted");
        }
        Verdict::Duplicate(first) => {
            assert!(first < position, "the first item precedes its duplicate")
        }
        Verdict::Deleted => {
            let is_any_deleted = transcript.items().iter().any(HeldItem::is_tombstone);
            assert!(is_any_deleted, "something was deleted");
        }
        Verdict::Fresh
        | Verdict::FreshUnderUsedId
        | Verdict::Replaces
        | Verdict::LateOutput { .. } => {}
    }
}

/// Messages without ids are matched as a sequence: no stored message is matched twice.
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

/// A byte-for-byte replay of stored items adds no item that has an id of its own.
fn what_is_held_is_known_by_its_id(transcript: &Transcript) {
    let ids: HashSet<_> = transcript.items().iter().map(|item| &item.id).collect();
    let held: Vec<Item> = transcript.items().iter().filter_map(HeldItem::item).collect();
    let verdicts = reconcile(transcript, &held, KEY);
    if ids.len() == transcript.items().len() {
        let with_id = held.iter().zip(&verdicts).filter(|(item, _)| item.head().id.is_some());
        for (item, verdict) in with_id {
            assert!(
                !verdict.is_fresh(),
                "{} is stored, but the verdict is {verdict:?}",
                item.text()
            );
        }
    }
}

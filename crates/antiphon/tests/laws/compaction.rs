//! Properties of a view after a compaction.

use antiphon::faults::Fault;
use antiphon::item::FingerprintKey;
use antiphon::reconcile::reconcile;
use antiphon::repair::{Policy, Repair, made_with, repair_with};
use antiphon::transcript::{HeldItem, Transcript};
use antiphon::{Item, ItemId, Kind, Role};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;

use crate::history::{End, History, Numbering, answered, items, numbering, turns};

const KEY: FingerprintKey = FingerprintKey::new([3; 16]);

/// A stored well-formed history with a compaction, and the compaction's position.
fn compacted() -> impl Strategy<Value = (Transcript, usize)> {
    let place = any::<Index>();
    (turns(), numbering(), place).prop_map(|(turns, numbering, place)| {
        let mut items = history(&turns, numbering);
        let at = place.index(items.len() + 1);
        items.insert(at, compaction());
        (transcript(&items), at)
    })
}

fn history(turns: &[crate::history::Turn], numbering: Numbering) -> Vec<Item> {
    History::from_turns(&answered(turns.to_vec()), numbering, End::Over).items()
}

fn compaction() -> Item {
    let json = json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA"});
    Item::parse(json.to_string().into()).expect("it is an item")
}

fn transcript(items: &[Item]) -> Transcript {
    let held = |(number, item): (usize, &Item)| {
        let issued = || ItemId::from(format!("issued_{number}"));
        HeldItem::new(item.head().id.clone().unwrap_or_else(issued), item, KEY, None)
    };
    items.iter().enumerate().map(held).collect()
}

fn given(transcript: &Transcript, view: &[usize]) -> Vec<Item> {
    view.iter().filter_map(|at| transcript.items()[*at].item()).collect()
}

proptest! {
    /// Pairs stay complete, reasoning keeps its following item, and items keep their reasoning.
    /// Faults from reused call ids, which existed before, are excepted.
    #[test]
    fn compacted_view_has_no_faults((transcript, _) in compacted()) {
        let heads = transcript.items().iter().map(|item| (&item.head, Some(&item.id)));
        let policy = Policy { made_with: made_with(heads), ..Policy::default() };
        let view = given(&transcript, &transcript.view());
        let repaired = repair_with(&view, &policy).expect("this policy rejects nothing");
        let repeats = |mend: &&Repair| matches!(mend.fault, Fault::DuplicateCall { .. });
        let repairs: Vec<&Repair> = repaired.repairs.iter().filter(|mend| !repeats(mend)).collect();
        prop_assert!(repairs.is_empty(), "{repairs:?}");
        prop_assert_eq!(repaired.items.len(), view.len());
    }

    /// All user messages stay, in order, and so do all items after the compaction.
    #[test]
    fn user_messages_and_later_items_stay((transcript, at) in compacted()) {
        let view = transcript.view();
        prop_assert!(view.is_sorted());
        let stays = |position: &usize| {
            *position >= at || transcript.items()[*position].head.role == Some(Role::User)
        };
        let kept: Vec<usize> = view.iter().copied().filter(stays).collect();
        let all: Vec<usize> = (0..transcript.items().len()).filter(stays).collect();
        prop_assert_eq!(kept, all);
        let bridges = view.iter().filter(|position| !stays(position));
        for position in bridges {
            let kind = &transcript.items()[*position].head.kind;
            prop_assert!(*kind == Kind::Reasoning || kind.output().is_some(), "{kind}");
        }
    }

    /// Items before the compaction are still recognized: a client that resends all of them
    /// duplicates none.
    #[test]
    fn replay_after_compaction_is_recognized((transcript, _) in compacted()) {
        let all: Vec<usize> = (0..transcript.items().len()).collect();
        let mut replay = given(&transcript, &all);
        replay.extend(items([&json!({"role": "user", "content": "And now something new."})]));
        let verdicts = reconcile(&transcript, &replay, KEY);
        let fresh: Vec<usize> = (0..replay.len()).filter(|at| verdicts[*at].is_fresh()).collect();
        prop_assert_eq!(fresh, [replay.len() - 1]);
    }

    /// Without the compaction, the view is the same as before it.
    #[test]
    fn view_without_compaction_has_all_items((transcript, at) in compacted()) {
        let all: Vec<usize> = (0..transcript.items().len()).filter(|place| *place != at).collect();
        prop_assert_eq!(transcript.view_after_compaction(None), all);
    }
}

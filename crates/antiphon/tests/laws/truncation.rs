//! Properties of truncation, checked by an independent judge.

use antiphon::Item;
use antiphon::repair::{check, repair};
use antiphon::truncation::{Cut, cut};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use crate::history::{End, History, items, numbering, turns};
use crate::judge::judge;
use crate::mangle::{mangled, mishaps};

fn values(items: &[Item]) -> Vec<Value> {
    let value = |item: &Item| serde_json::from_str(item.text()).expect("an item is JSON");
    items.iter().map(value).collect()
}

/// A repaired conversation, with instructions and compactions at any position.
fn views() -> impl Strategy<Value = Vec<Item>> {
    let end = proptest::sample::select(&[End::Over, End::Waiting][..]);
    let inserted = proptest::collection::vec((any::<Index>(), any::<bool>()), 0..4);
    (turns(), numbering(), end, mishaps(), any::<bool>(), inserted).prop_map(
        |(turns, numbering, end, mishaps, is_mangled, inserted)| {
            let mut given = values(&History::from_turns(&turns, numbering, end).items());
            if is_mangled {
                given = mangled(given, &mishaps);
            }
            for (number, (at, instructs)) in inserted.into_iter().enumerate() {
                given.insert(at.index(given.len() + 1), inserted_item(number, instructs));
            }
            repair(&items(&given)).items
        },
    )
}

fn inserted_item(number: usize, instructs: bool) -> Value {
    match instructs {
        true => json!({"role": "developer", "content": format!("Rule {number}.")}),
        false => json!({
            "type": "compaction", "id": format!("cmp_{number}"), "encrypted_content": "gAAAA",
        }),
    }
}

/// Weights of the items; a few are much heavier than the others.
fn weights(items: &[Item]) -> Vec<u64> {
    items.iter().map(|item| item.raw().len() as u64).collect()
}

fn cut_by(items: &[Item], excess: u64) -> Cut {
    cut(items, &weights(items), excess, |_| false)
}

fn is_instruction(item: &Item) -> bool {
    item.head().role.is_some_and(antiphon::Role::instructs)
}

/// The position after the model's last item; 0 if it has none.
fn behind_the_models_last(items: &[Value]) -> usize {
    let callers = |item: &Value| {
        let kind = item["type"].as_str().unwrap_or("message");
        kind.ends_with("_output") || kind == "message" && item["role"] != "assistant"
    };
    items.iter().rposition(|item| !callers(item)).map_or(0, |at| at + 1)
}

proptest! {
    #[test]
    fn remaining_items_are_still_accepted(view in views(), excess in 0_u64..20_000) {
        prop_assert_eq!(check(&view), vec![]);
        let kept = cut_by(&view, excess).kept(&view);
        prop_assert_eq!(check(&kept), vec![]);
        prop_assert_eq!(judge(&values(&kept)), Ok(()));
    }

    #[test]
    fn cut_reaches_excess_or_drops_all_groups(view in views(), excess in 0_u64..20_000) {
        let cut = cut_by(&view, excess);
        let all = cut_by(&view, u64::MAX);
        let weights = weights(&view);
        prop_assert_eq!(cut.weight, cut.dropped.iter().map(|at| weights[*at]).sum::<u64>());
        prop_assert!(cut.weight >= excess || cut == all);
        prop_assert!(excess > 0 || cut.dropped.is_empty());
    }

    #[test]
    fn larger_excess_drops_a_superset(
        view in views(),
        less in 0_u64..20_000,
        more in 0_u64..20_000,
    ) {
        let (less, more) = (cut_by(&view, less.min(more)), cut_by(&view, less.max(more)));
        prop_assert!(less.dropped.iter().all(|at| more.dropped.contains(at)));
    }

    #[test]
    fn pinned_and_unanswered_items_stay(view in views()) {
        let kept = cut_by(&view, u64::MAX).kept(&view);
        let instructions = |items: &[Item]| {
            items.iter().filter(|item| is_instruction(item)).count()
        };
        prop_assert_eq!(instructions(&kept), instructions(&view));
        let (view, kept) = (values(&view), values(&kept));
        let is_users = |item: &&Value| {
            item["role"] == "user" && item["type"].as_str().is_none_or(|kind| kind == "message")
        };
        let last_words = view.iter().rfind(is_users);
        prop_assert!(last_words.is_none_or(|words| kept.contains(words)));
        let unanswered = &view[behind_the_models_last(&view)..];
        prop_assert!(kept.ends_with(unanswered), "{kept:#?}\nof {view:#?}");
        let compaction = view.iter().rfind(|item| item["type"] == "compaction");
        prop_assert!(compaction.is_none_or(|compaction| kept.contains(compaction)));
    }

    #[test]
    fn remaining_items_keep_their_order(view in views(), excess in 0_u64..20_000) {
        let cut = cut_by(&view, excess);
        prop_assert!(cut.dropped.is_sorted());
        let kept = cut.kept(&view);
        let mut rest = view.iter();
        prop_assert!(kept.iter().all(|item| rest.any(|other| other == item)));
        prop_assert_eq!(kept.len() + cut.dropped.len(), view.len());
        prop_assert!(!kept.is_empty() || view.is_empty());
    }
}

/// A hundred thousand items finish quickly; quadratic time would take hours.
#[test]
fn long_histories_are_cut_in_linear_time() {
    let turn = |number: usize| {
        let call_id = format!("call_{number}");
        [
            json!({"role": "user", "content": "again"}),
            json!({"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}"}),
            json!({"type": "function_call_output", "call_id": call_id, "output": "done"}),
            json!({"role": "assistant", "content": "done"}),
        ]
    };
    let talk: Vec<Value> = (0..25_000).flat_map(turn).collect();
    let talk = items(&talk);
    assert_eq!(cut_by(&talk, u64::MAX).kept(&talk).len(), 1);
    let run = talk.iter().enumerate().filter(|(at, _)| *at == 0 || at % 4 != 0 && at % 4 != 3);
    let run: Vec<Item> = run.map(|(_, item)| item.clone()).collect();
    assert_eq!(cut_by(&run, u64::MAX).kept(&run).len(), 3);
}

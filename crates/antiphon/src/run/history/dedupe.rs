//! Removes duplicate items from a history; the latest value of each item remains.

use std::collections::HashMap;

use crate::item::{CallId, Exchanges, Item, ItemId, Kind, PairRole};
use crate::tracker::server_id;

/// Returns `items` without duplicates.
///
/// Two items are duplicates if they have the same kind and `call_id`, or, without a `call_id`, the
/// same kind and id; an approval is identified by its request. The latest value remains. Calls,
/// reasoning, requests and all other items of a model stay at their earliest position, outputs at
/// their latest.
///
/// Messages are never merged, because users repeat themselves. Different calls with the same
/// `call_id` are not merged either, because some servers restart these ids in every turn: each call
/// keeps its own output.
pub fn dedupe(items: &[Item]) -> Vec<Item> {
    merge_outputs(merge_asked(items))
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    kind: Kind,
    id: String,
}

/// The key by which duplicates are found; `None` if the item is never a duplicate.
fn key(item: &Item) -> Option<Key> {
    let head = item.head();
    if head.kind == Kind::Message {
        return None;
    }
    let call_id = head.call_id.as_ref().map(CallId::as_str).filter(|id| !id.is_empty());
    let id = call_id.or_else(|| server_id(head).map(ItemId::as_str))?;
    Some(Key { kind: head.kind.clone(), id: id.to_owned() })
}

/// Merges all items except outputs.
fn merge_asked(items: &[Item]) -> Vec<Item> {
    let mut merged: Vec<Item> = Vec::with_capacity(items.len());
    let mut places: HashMap<Key, usize> = HashMap::new();
    for item in items {
        let key = key(item).filter(|key| key.kind.call().is_none());
        let earlier = key.as_ref().and_then(|key| places.get(key)).copied();
        if let Some(at) = earlier.filter(|at| are_one(&merged[*at], item)) {
            merged[at] = item.clone();
        } else {
            places.extend(key.map(|key| (key, merged.len())));
            merged.push(item.clone());
        }
    }
    merged
}

/// Whether two items with the same key are duplicates. Calls are duplicates if they have the same
/// id, or, if one has no id, the same content.
fn are_one(earlier: &Item, later: &Item) -> bool {
    if earlier.head().kind.output().is_none() {
        return true;
    }
    match (server_id(earlier.head()), server_id(later.head())) {
        (Some(one), Some(two)) => one == two,
        _ => later.has_same_content(earlier),
    }
}

/// Keeps only the latest output of each call.
fn merge_outputs(items: Vec<Item>) -> Vec<Item> {
    let answered = answered(&items);
    let mut latest = HashMap::new();
    for (position, answers) in answered.iter().enumerate() {
        latest.extend(answers.as_ref().map(|answers| (answers, position)));
    }
    let is_kept = |(position, _): &(usize, Item)| {
        answered[*position].as_ref().is_none_or(|answers| latest[answers] == *position)
    };
    items.into_iter().enumerate().filter(is_kept).map(|(_, item)| item).collect()
}

/// The call of an output.
#[derive(PartialEq, Eq, Hash)]
enum Answered {
    /// The call at this position.
    Call(usize),
    /// A call that is not in the list.
    Absent(Key),
}

/// The call of each output; `None` for other items.
fn answered(items: &[Item]) -> Vec<Option<Answered>> {
    let mut exchanges = Exchanges::default();
    let answered = |(position, item): (usize, &Item)| match exchanges.push(position, item.head()) {
        Some(PairRole::Output(call) | PairRole::RepeatedOutput(call)) => Some(Answered::Call(call)),
        Some(PairRole::Call) => None,
        Some(PairRole::OrphanOutput) | None => {
            key(item).filter(|key| key.kind.call().is_some()).map(Answered::Absent)
        }
    };
    items.iter().enumerate().map(answered).collect()
}

//! A history in which every item stands once, with its latest value.

use std::collections::HashMap;

use crate::item::{CallId, Exchanges, Item, ItemId, Joined, Kind};
use crate::tracker::server_id;

/// `items`, each once.
///
/// Items are one where kind and `call_id` are the same, or, without a `call_id`, kind and id; for
/// approvals the request counts. The latest value prevails. Calls, reasoning, requests and all else
/// that a model made stay at their earliest place, outputs at their latest. Messages are never
/// merged: people repeat themselves. Nor are different calls under one `call_id`, which some servers
/// restart every turn: each keeps its own output.
pub fn dedupe(items: &[Item]) -> Vec<Item> {
    merge_outputs(merge_asked(items))
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    kind: Kind,
    id: String,
}

/// The key of an item that may stand twice; `None` where each stands for itself.
fn key(item: &Item) -> Option<Key> {
    let head = item.head();
    if head.kind == Kind::Message {
        return None;
    }
    let call_id = head.call_id.as_ref().map(CallId::as_str).filter(|id| !id.is_empty());
    let id = call_id.or_else(|| server_id(head).map(ItemId::as_str))?;
    Some(Key { kind: head.kind.clone(), id: id.to_owned() })
}

/// Merges what is no output.
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

/// Whether two items of one key are one. Calls that ask for different things are not, unless their
/// id says so; nor are those of two ids.
fn are_one(earlier: &Item, later: &Item) -> bool {
    if earlier.head().kind.output().is_none() {
        return true;
    }
    match (server_id(earlier.head()), server_id(later.head())) {
        (Some(one), Some(two)) => one == two,
        _ => later.says_the_same_as(earlier),
    }
}

/// Of the outputs for one call keeps the latest.
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

/// What an output answers.
#[derive(PartialEq, Eq, Hash)]
enum Answered {
    /// The call at this position.
    Call(usize),
    /// A call that is not there.
    Absent(Key),
}

/// For each output what it answers; `None` for all else.
fn answered(items: &[Item]) -> Vec<Option<Answered>> {
    let mut exchanges = Exchanges::default();
    let answered = |(position, item): (usize, &Item)| match exchanges.push(position, item.head()) {
        Some(Joined::Answers(call) | Joined::Repeats(call)) => Some(Answered::Call(call)),
        Some(Joined::Asks) => None,
        Some(Joined::Orphan) | None => {
            key(item).filter(|key| key.kind.call().is_some()).map(Answered::Absent)
        }
    };
    items.iter().enumerate().map(answered).collect()
}

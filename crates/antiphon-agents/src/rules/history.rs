//! Prepares a history that the client owns for a request.

use std::collections::{HashMap, HashSet};

use antiphon::faults::Fault;
use antiphon::item::{CallId, CallKey, Exchange, Exchanges, Item, ItemId, Kind, PairRole, Side};
use antiphon::repair::{Action, Repair, ReportedRepair};
use antiphon::tracker::server_id;

/// Returns the input of a turn's request: `history` cut to `limit`, without duplicates and calls
/// that have no output, followed by the unchanged `input`. The stored history does not change.
///
/// The report has the items that were left out, except those that `limit` cuts off.
pub(crate) fn prepare(
    history: &[Item],
    input: &[Item],
    limit: Option<usize>,
) -> (Vec<Item>, Vec<ReportedRepair>) {
    let mut report = Vec::new();
    let merged = dedupe(latest(history, limit), &mut report);
    (prune(&merged, input, &mut report), report)
}

/// Reports an item that is left out because of this fault.
fn left_out(item: &Item, fault: Fault, action: Action) -> ReportedRepair {
    let repair = Repair { position: 0, id: item.head().id.clone(), fault, action };
    ReportedRepair::from_repair(None, item, &repair)
}

/// Returns the latest `limit` items of `history`, or all items without a limit.
///
/// If the cut separates a call from its output, the output is dropped too. An output that never had
/// a call stays, because a limit does not repair histories.
pub(super) fn latest(history: &[Item], limit: Option<usize>) -> Vec<Item> {
    let cut = limit.map_or(0, |limit| history.len().saturating_sub(limit));
    keep_items(history, cut, |joined| match joined {
        PairRole::Output(call) | PairRole::RepeatedOutput(call) => call >= cut,
        _ => true,
    })
}

/// The items from `cut` on that pass `keeps` or belong to no call.
fn keep_items(items: &[Item], cut: usize, keeps: impl Fn(PairRole) -> bool) -> Vec<Item> {
    let mut exchanges = Exchanges::default();
    let joined = items.iter().enumerate().map(|(at, item)| (item, exchanges.push(at, item.head())));
    let after_cut = joined.skip(cut);
    after_cut
        .filter(|(_, joined)| joined.is_none_or(&keeps))
        .map(|(item, _)| item.clone())
        .collect()
}

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
pub(super) fn dedupe(items: Vec<Item>, report: &mut Vec<ReportedRepair>) -> Vec<Item> {
    merge_outputs(merge_requests(items, report), report)
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
fn merge_requests(items: Vec<Item>, report: &mut Vec<ReportedRepair>) -> Vec<Item> {
    let mut merged: Vec<Item> = Vec::with_capacity(items.len());
    let mut places: HashMap<Key, usize> = HashMap::new();
    for item in items {
        let key = key(&item).filter(|key| key.kind.call().is_none());
        let earlier = key.as_ref().and_then(|key| places.get(key)).copied();
        if let Some(at) = earlier.filter(|at| are_one(&merged[*at], &item)) {
            let replaced = std::mem::replace(&mut merged[at], item);
            report.push(left_out(&replaced, duplicate(&replaced), Action::Dropped));
        } else {
            places.extend(key.map(|key| (key, merged.len())));
            merged.push(item);
        }
    }
    merged
}

/// The fault of an item that comes twice.
fn duplicate(item: &Item) -> Fault {
    match item.head().pairing() {
        Some((Side::Call, CallKey { kind, call_id })) => {
            Fault::DuplicateCall { kind, call_id, identical: true }
        }
        _ => Fault::DuplicateItem { id: item.head().id.clone().unwrap_or_else(|| "".into()) },
    }
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
fn merge_outputs(items: Vec<Item>, report: &mut Vec<ReportedRepair>) -> Vec<Item> {
    let answered = calls_of_outputs(&items);
    let mut latest = HashMap::new();
    for (position, answers) in answered.iter().enumerate() {
        latest.extend(answers.as_ref().map(|answers| (answers, position)));
    }
    let is_latest = |position: usize| {
        answered[position].as_ref().is_none_or(|answers| latest[answers] == position)
    };
    let mut merged = Vec::with_capacity(items.len());
    for (position, item) in items.into_iter().enumerate() {
        match item.head().pairing().filter(|_| !is_latest(position)) {
            Some((_, CallKey { call_id, .. })) => {
                let fault = Fault::DuplicateOutput { kind: item.head().kind.clone(), call_id };
                report.push(left_out(&item, fault, Action::Replaced));
            }
            None => merged.push(item),
        }
    }
    merged
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
fn calls_of_outputs(items: &[Item]) -> Vec<Option<Answered>> {
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

/// Drops the calls of `history` that a run left without an output; a provider would reject them.
///
/// A call of the history is dropped if neither the history nor `input` has its output. The
/// reasoning directly before it is dropped too, unless the item after the reasoning stays. Calls in
/// `input` are the caller's own and stay. Outputs are not checked.
pub(super) fn prune(
    history: &[Item],
    input: &[Item],
    report: &mut Vec<ReportedRepair>,
) -> Vec<Item> {
    let calls = orphans(history, input);
    let mut kept = Vec::with_capacity(history.len() + input.len());
    for (position, item) in history.iter().enumerate() {
        let fault = if calls.contains(&position) {
            Some(unanswered(item))
        } else if item.head().kind == Kind::Reasoning && is_lost(history, position, &calls) {
            Some(Fault::LoneReasoning { id: item.head().id.clone() })
        } else {
            None
        };
        match fault {
            Some(fault) => report.push(left_out(item, fault, Action::Dropped)),
            None => kept.push(item.clone()),
        }
    }
    kept.extend_from_slice(input);
    kept
}

/// The fault of a call without an output.
fn unanswered(call: &Item) -> Fault {
    match call.head().pairing() {
        Some((_, CallKey { kind, call_id })) => Fault::UnansweredCall { kind, call_id },
        None => Fault::EmptyCallId { kind: call.head().kind.clone() },
    }
}

/// The positions in `history` of calls that need an output and have none.
fn orphans(history: &[Item], input: &[Item]) -> HashSet<usize> {
    let mut exchanges = Exchanges::default();
    for (position, item) in history.iter().chain(input).enumerate() {
        exchanges.push(position, item.head());
    }
    let waiting = exchanges.iter().flat_map(Exchange::waiting);
    let is_orphan = |position: &usize| {
        history.get(*position).is_some_and(|call| call.head().kind.must_be_answered())
    };
    waiting.filter(is_orphan).collect()
}

/// Whether the reasoning led only to dropped calls. If one of several parallel calls stays, it
/// needs the reasoning that led to all of them.
fn is_lost(history: &[Item], position: usize, dropped: &HashSet<usize>) -> bool {
    let is_reasoning = |at: &usize| history[*at].head().kind == Kind::Reasoning;
    let mut behind = (position + 1..history.len()).skip_while(is_reasoning).peekable();
    if behind.peek().is_none_or(|follower| !dropped.contains(follower)) {
        return false;
    }
    let follower = behind.find(|at| !dropped.contains(at)).map(|at| history[at].head());
    follower.is_none_or(|head| head.kind == Kind::Reasoning || !head.is_model_made())
}

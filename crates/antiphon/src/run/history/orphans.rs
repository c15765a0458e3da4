//! Removes calls without an output from a history that the client owns.

use std::collections::HashSet;

use crate::item::{Exchange, Exchanges, Item, Kind};

/// A history without orphans, followed by the turn's input.
#[derive(Clone, Debug, PartialEq)]
pub struct Pruned {
    /// The items to send.
    pub items: Vec<Item>,
    /// The items that were dropped from the history, in order.
    pub dropped: Vec<Dropped>,
}

/// A dropped item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// A call without an output of its own kind and `call_id`, at this position in the history.
    Call(usize),
    /// Reasoning directly before such a call, at this position in the history.
    Reasoning(usize),
}

/// Drops the calls of `history` that a run left without an output; a provider would reject them.
///
/// A call of the history is dropped if neither the history nor `input` has its output. The
/// reasoning directly before it is dropped too, unless the item after the reasoning stays. Calls in
/// `input` are the caller's own and stay. Outputs are not checked.
pub fn prune(history: &[Item], input: &[Item]) -> Pruned {
    let calls = orphans(history, input);
    let mut items = Vec::with_capacity(history.len() + input.len());
    let mut dropped = Vec::new();
    for (position, item) in history.iter().enumerate() {
        if calls.contains(&position) {
            dropped.push(Dropped::Call(position));
        } else if item.head().kind == Kind::Reasoning && is_lost(history, position, &calls) {
            dropped.push(Dropped::Reasoning(position));
        } else {
            items.push(item.clone());
        }
    }
    items.extend_from_slice(input);
    Pruned { items, dropped }
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

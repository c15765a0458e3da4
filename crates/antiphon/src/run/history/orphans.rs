//! Calls that nobody answered, in a history that the client owns.

use std::collections::HashSet;

use crate::item::{Exchange, Exchanges, Item, Kind};

/// A history without orphans, and the turn's input behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Pruned {
    /// The items to send.
    pub items: Vec<Item>,
    /// What was left out of the history, in order.
    pub dropped: Vec<Dropped>,
}

/// What was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// A call without an output of its own kind and `call_id`, at this position in the history.
    Call(usize),
    /// Reasoning right before such a call, at this position in the history.
    Reasoning(usize),
}

/// Drops what a run left unanswered in `history`, which a provider would refuse.
///
/// A call without an output, in the history or in `input`, is dropped, and with it the reasoning
/// right before it; reasoning whose follower stays does too. Calls in `input` are the caller's own:
/// they stay. Outputs are not looked at.
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

/// The positions in `history` of calls that must be answered and are not.
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

/// Whether the reasoning led to dropped calls only. Of parallel calls one may stay, and needs the
/// reasoning that led to all of them.
fn is_lost(history: &[Item], position: usize, dropped: &HashSet<usize>) -> bool {
    let is_reasoning = |at: &usize| history[*at].head().kind == Kind::Reasoning;
    let mut behind = (position + 1..history.len()).skip_while(is_reasoning).peekable();
    if behind.peek().is_none_or(|follower| !dropped.contains(follower)) {
        return false;
    }
    let follower = behind.find(|at| !dropped.contains(at)).map(|at| history[at].head());
    follower.is_none_or(|head| head.kind == Kind::Reasoning || !head.is_model_made())
}

//! The state of a conversation: whether its next turn can run.

use antiphon::item::Exchanges;
use antiphon::json::Object;
use antiphon::repair::{blocking_items, check};
use antiphon::{HeldItem, Item, Kind, Transcript};

use super::forest::{Forest, Group};
use super::model::ConversationState;

/// The state of a conversation with these items: all of its path, in order.
pub(super) fn from_items(
    forest: &Forest,
    group: &Group,
    items: Vec<HeldItem>,
) -> ConversationState {
    if let Some(open) = open_turn(forest, group) {
        return open;
    }
    let is_ledger = ledger_is_stale(forest, group);
    if is_ledger == Some(true) {
        return ConversationState::Stale;
    }
    let transcript: Transcript = items.into_iter().collect();
    let held: Vec<&HeldItem> =
        transcript.view().into_iter().map(|at| &transcript.items()[at]).collect();
    let view: Vec<Item> = held.iter().filter_map(|item| item.outline()).collect();
    let waiting = waiting_calls(&view);
    let poisoned = match is_ledger {
        Some(_) => blocking(&view, &held),
        None => first_fault(&view, &held, &waiting),
    };
    match (poisoned, waiting.is_empty()) {
        (Some(poisoned), _) => poisoned,
        (None, true) => ConversationState::Healthy,
        (None, false) => ConversationState::Waiting {
            calls: waiting.into_iter().map(|at| call_name(&view[at], held[at])).collect(),
        },
    }
}

/// The state without the items.
pub(super) fn without_items(forest: &Forest, group: &Group) -> ConversationState {
    match (open_turn(forest, group), ledger_is_stale(forest, group)) {
        (Some(open), _) => open,
        (None, Some(true)) => ConversationState::Stale,
        (None, _) => ConversationState::Unchecked,
    }
}

fn open_turn(forest: &Forest, group: &Group) -> Option<ConversationState> {
    let response = forest.open_turn(group)?.response.to_string();
    Some(ConversationState::OpenTurn { response: Some(response) })
}

/// Whether the group's ledger is stale; `None` if the gateway owns its state.
fn ledger_is_stale(forest: &Forest, group: &Group) -> Option<bool> {
    forest.ledger(group).map(|(_, entry)| entry.is_stale)
}

/// The positions of the calls of the last answer that wait for an output, and of its approval
/// requests. A call that its stream cut off waits for nothing.
fn waiting_calls(view: &[Item]) -> Vec<usize> {
    let answer = view.iter().rev().take_while(|item| item.head().is_model_made()).count();
    let start = view.len() - answer;
    let mut exchanges = Exchanges::default();
    for (position, item) in view.iter().enumerate() {
        exchanges.push(position, item.head());
    }
    let mut waiting: Vec<usize> =
        exchanges.iter().flat_map(antiphon::item::Exchange::waiting).collect();
    waiting.retain(|at| *at >= start && !is_cut(&view[*at]));
    waiting.sort_unstable();
    waiting
}

/// Whether the item says that its stream ended before it was whole.
fn is_cut(item: &Item) -> bool {
    let status = |object: Object<'_>| object.string("status").is_some_and(|it| it == "incomplete");
    status(item.object())
}

/// The first fault that does not come from a call that waits for its output.
fn first_fault(view: &[Item], held: &[&HeldItem], waiting: &[usize]) -> Option<ConversationState> {
    let faults = check(view).into_iter();
    let mut faults =
        faults.filter(|(at, _)| !waiting.contains(at) && !is_before_waiting(view, *at, waiting));
    let (at, fault) = faults.next()?;
    Some(ConversationState::Poisoned {
        fault: fault.name().to_owned(),
        item: held[at].id.to_string(),
        message: fault.refusal(at).message,
    })
}

/// Whether a reasoning item precedes a call that waits: the call follows it once it is answered.
fn is_before_waiting(view: &[Item], at: usize, waiting: &[usize]) -> bool {
    view[at].head().kind == Kind::Reasoning
        && waiting.iter().any(|call| *call > at)
        && view[at..].iter().all(|item| item.head().is_model_made())
}

/// The first item for which an upstream that stores them all refuses each further turn.
fn blocking(view: &[Item], held: &[&HeldItem]) -> Option<ConversationState> {
    let found = blocking_items(view.len(), view).into_iter().next()?;
    Some(ConversationState::Poisoned {
        fault: found.fault.name().to_owned(),
        item: held[found.position].id.to_string(),
        message: found.fault.refusal(found.position).message,
    })
}

fn call_name(item: &Item, held: &HeldItem) -> String {
    let call_id = item.head().call_id.as_ref().map(ToString::to_string);
    call_id.unwrap_or_else(|| held.id.to_string())
}

//! Tests of the tracker's plans.

mod delta;
mod filter;
mod hydration;
mod laws;
mod snapshot;
mod turns;

use super::{Attempt, Continuation, Occurrence, Plan, Reason, ReasoningIds, Returned, Tracker};
use crate::item::Item;

/// A tracker of a run that continues a conversation.
fn conversation() -> Tracker {
    let continuation = Continuation::Conversation { id: "conv_1".into() };
    Tracker::new(continuation, ReasoningIds::Keep)
}

/// A tracker of a run that chains its responses from the first one on.
fn chain() -> Tracker {
    Tracker::new(Continuation::Chain { previous_response_id: None }, ReasoningIds::Keep)
}

/// Adds items to an unfinished run.
fn add(tracker: &mut Tracker, items: &[Item]) -> Vec<Occurrence> {
    items.iter().map(|item| tracker.add(item.clone()).unwrap()).collect()
}

/// The items that a plan sends.
fn items(plan: &Plan) -> Vec<Item> {
    plan.items.iter().map(|planned| planned.item.clone()).collect()
}

/// The items of the next request.
fn next(tracker: &Tracker) -> Vec<Item> {
    items(&tracker.plan())
}

/// Sends the whole plan.
fn send(tracker: &mut Tracker) -> Attempt {
    let planned = tracker.plan().occurrences();
    tracker.send(&planned).unwrap()
}

/// Sends the whole plan and accepts a response with `output`. Returns the sent items.
fn call_model(tracker: &mut Tracker, response_id: Option<&str>, output: &[Item]) -> Vec<Item> {
    let sent = next(tracker);
    let attempt = send(tracker);
    tracker.accept(attempt, response_id.map(Into::into).as_ref(), output).unwrap();
    sent
}

/// An item that a filter rebuilt.
fn rebuilt(item: &Item) -> Returned {
    Returned { occurrence: None, item: item.clone() }
}

/// The tracker after a round trip through a snapshot.
fn restored(tracker: &Tracker) -> Tracker {
    serde_json::from_str(&serde_json::to_string(tracker).unwrap()).unwrap()
}

/// The id of the response that the next request continues.
fn previous(tracker: &Tracker) -> Option<&str> {
    tracker.continuation().previous_response_id().map(super::ResponseId::as_str)
}

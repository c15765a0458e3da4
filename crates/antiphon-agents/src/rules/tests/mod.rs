//! Tests of the rules of a run.

mod calls;
mod cancellation;
mod compaction;
mod handoff;
mod history;
mod outcomes;
mod retry;
mod sessions;
mod settling;
mod staging;

use antiphon::item::{CallKey, Item, Kind};
use antiphon::tracker::{Continuation, ReasoningIds, Tracker};

fn conversation() -> Continuation {
    Continuation::Conversation { id: "conv_1".into() }
}

/// A tracker of a run in a conversation.
fn tracker() -> Tracker {
    Tracker::new(conversation(), ReasoningIds::Keep)
}

/// The items of the next request.
fn next(tracker: &Tracker) -> Vec<Item> {
    tracker.plan().items.into_iter().map(|planned| planned.item).collect()
}

/// Sends the next request and accepts a response with `output`. Returns the sent items.
fn call_model(tracker: &mut Tracker, output: &[Item]) -> Vec<Item> {
    let sent = next(tracker);
    let attempt = tracker.send(&tracker.plan().occurrences()).unwrap();
    tracker.accept(attempt, None, output).unwrap();
    sent
}

/// The key of a function call.
fn function(call_id: &str) -> CallKey {
    CallKey { kind: Kind::FunctionCall, call_id: call_id.into() }
}

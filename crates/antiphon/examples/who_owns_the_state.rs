//! The content of the next request depends on the owner of the state. For a conversation that a
//! server stores, the tracker plans only the items that the server lacks, even after a failed
//! request.

use antiphon::Item;
use antiphon::tracker::{Continuation, ContinuationOptions, ReasoningIds, Tracker};

fn message(text: &str) -> Item {
    let raw = format!(r#"{{"role":"user","content":"{text}"}}"#);
    Item::parse(raw.into()).expect("the text above is an item")
}

pub(crate) fn main() {
    let options = ContinuationOptions {
        conversation_id: Some("conv_1".into()),
        ..ContinuationOptions::default()
    };
    let continuation: Continuation =
        options.choose().expect("one strategy was chosen").expect("the server keeps the state");
    let mut tracker = Tracker::new(continuation, ReasoningIds::Keep);
    tracker.add(message("My color is purple")).expect("the run has not ended");

    // The first request fails before it arrives, so none of its items counts as sent.
    let lost = tracker.send(&tracker.plan().occurrences()).expect("the plan is fresh");
    tracker.rewind(lost).expect("the request was in flight");

    // The second request arrives.
    let attempt = tracker.send(&tracker.plan().occurrences()).expect("the plan is fresh");
    tracker.accept(attempt, None, &[]).expect("the request was in flight");
    tracker.add(message("What is my color?")).expect("the run has not ended");

    let plan = tracker.plan();
    for planned in &plan.items {
        println!("{}", planned.item.text());
    }
    assert_eq!(plan.items.len(), 1);
}

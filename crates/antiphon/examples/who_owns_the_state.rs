//! The owner of the state decides what the next request contains: a tracker of a conversation that a
//! server keeps plans only what the server lacks, also after a failed request.

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
    tracker.add(message("My color is purple")).expect("the run goes on");

    // The first request fails on its way; nothing of it counts as sent.
    let lost = tracker.send(&tracker.plan().occurrences()).expect("the plan is fresh");
    tracker.rewind(lost).expect("the request was in flight");

    // The second one arrives.
    let attempt = tracker.send(&tracker.plan().occurrences()).expect("the plan is fresh");
    tracker.accept(attempt, None, &[]).expect("the request was in flight");
    tracker.add(message("What is my color?")).expect("the run goes on");

    let plan = tracker.plan();
    for planned in &plan.items {
        println!("{}", planned.item.text());
    }
    assert_eq!(plan.items.len(), 1);
}

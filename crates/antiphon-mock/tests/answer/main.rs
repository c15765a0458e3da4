//! Answers have the events, items and response fields that the specification requires, and the
//! forms of the other APIs.

mod anthropic;
mod chat;
mod events;
mod items;
mod response;

use antiphon_mock::{Answer, Frame};
use serde_json::Value;

fn full_answer() -> Answer {
    Answer::new("fake-model")
        .seed("full")
        .reasoning("Two words")
        .call("call_1", "echo", "{\"text\": \"a b\"}")
        .custom_call("call_2", "grep", "a b")
        .message("Hello my friend")
        .refusal("I will not")
}

fn events(answer: &Answer) -> Vec<Value> {
    answer.frames().iter().filter_map(Frame::json).collect()
}

fn names(answer: &Answer) -> Vec<String> {
    let name = |event: &Value| event["type"].as_str().expect("every event has a type").to_owned();
    events(answer).iter().map(name).collect()
}

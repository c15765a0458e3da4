//! Generated chats, as models and clients write them.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::reasoning::sealed;
use crate::item::Item;
use crate::item::given::{bare_assistant, call, output, user};

/// The content of an item, without its ids.
pub(super) type Said = (&'static str, String);

/// An event in a chat.
#[derive(Clone, Debug)]
pub(super) enum Event {
    User(String),
    Assistant(String),
    Thinks(String),
    /// A round of calls, each with its arguments and its output.
    Calls(Vec<(String, String)>),
}

/// Texts as people and models write them: quotes, escapes, white space, empty text.
fn text() -> impl Strategy<Value = String> {
    let words = vec(prop_oneof!["[a-z]{1,4}", Just(" \"é\"\n".to_owned())], 1..4);
    prop_oneof![5 => words.prop_map(|words| words.concat()), 1 => "[ \n]{0,2}"]
}

/// Arguments as models write them, including invalid JSON.
fn arguments() -> impl Strategy<Value = String> {
    prop_oneof![
        5 => text().prop_map(|text| json!({"a": text, "n": 1}).to_string()),
        1 => Just(String::new()),
        1 => text(),
        1 => Just("{\"a\":".to_owned()),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => text().prop_map(Event::User),
        3 => text().prop_map(Event::Assistant),
        1 => "[a-z]{1,4}".prop_map(Event::Thinks),
        2 => vec((arguments(), text()), 1..4).prop_map(Event::Calls),
    ]
}

/// A chat in chronological order.
pub(super) fn chat() -> impl Strategy<Value = Vec<Event>> {
    vec(event(), 1..12)
}

/// The `call_id`s of a chat: unique, restarted in every round, or all equal, with characters that
/// Anthropic rejects.
#[derive(Clone, Copy, Debug)]
pub(super) enum Naming {
    Unique,
    Restarted,
    Constant,
}

pub(super) fn naming() -> impl Strategy<Value = Naming> {
    prop_oneof![Just(Naming::Unique), Just(Naming::Restarted), Just(Naming::Constant)]
}

/// The items of a chat. If `late`, outputs come after the next event.
pub(super) fn items(events: &[Event], naming: Naming, late: bool) -> Vec<Item> {
    let mut items = Vec::new();
    let mut outputs = Vec::new();
    for (round, event) in events.iter().enumerate() {
        match event {
            Event::User(text) => items.push(user(text)),
            Event::Assistant(text) => items.push(bare_assistant(text)),
            Event::Thinks(text) => items.push(sealed(&thinking(text))),
            Event::Calls(calls) => {
                // Without outputs between them, two rounds would be one.
                items.append(&mut outputs);
                let id = |number| naming.call_id(round, number);
                for (number, (arguments, text)) in calls.iter().enumerate() {
                    items.push(call(&id(number), arguments));
                    outputs.push(output(&id(number), text));
                }
                if late {
                    continue;
                }
            }
        }
        items.append(&mut outputs);
    }
    items.append(&mut outputs);
    items
}

impl Naming {
    fn call_id(self, round: usize, number: usize) -> String {
        match self {
            Self::Unique => format!("call_{round}_{number}"),
            Self::Restarted => format!("call_{number}"),
            Self::Constant => "call/ä".to_owned(),
        }
    }
}

fn thinking(text: &str) -> String {
    json!({"type": "thinking", "thinking": text, "signature": "EqQB"}).to_string()
}

/// The contents of these items: one entry per text, call, output or thought.
pub(super) fn said_by(items: &[Item]) -> Vec<Said> {
    items
        .iter()
        .flat_map(said_by_item)
        .filter(|(kind, text)| *kind == "call" || !text.trim().is_empty())
        .collect()
}

fn said_by_item(item: &Item) -> Vec<Said> {
    let value: serde_json::Value = serde_json::from_slice(item.raw()).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    match value["type"].as_str().unwrap_or("message") {
        "function_call" => vec![("call", input(&text(&value["arguments"])))],
        "function_call_output" => vec![("output", text(&value["output"]))],
        "reasoning" => vec![("thought", text(&value["encrypted_content"]))],
        _ => {
            let kind = if value["role"] == "user" { "user" } else { "assistant" };
            match value["content"].as_array() {
                None => vec![(kind, text(&value["content"]))],
                Some(parts) => parts.iter().map(|part| (kind, text(&part["text"]))).collect(),
            }
        }
    }
}

/// The input for these arguments: an object, with invalid arguments wrapped.
fn input(arguments: &str) -> String {
    let value: Result<serde_json::Value, _> = serde_json::from_str(arguments);
    match value {
        Ok(value) if value.is_object() => value.to_string(),
        _ if arguments.trim().is_empty() => "{}".to_owned(),
        _ => json!({"_raw": arguments}).to_string(),
    }
}

//! Properties of a request in the Chat Completions dialect.

use antiphon::dialect::{Request, UpstreamApi};
use antiphon::json::Object;
use antiphon::repair::repair;
use antiphon::{Item, Origin};
use proptest::prelude::*;
use serde_json::Value;

use crate::history::{End, History, items, numbering, turns};
use crate::mangle::{mangled, mishaps};

fn messages(items: &[Item]) -> Vec<Value> {
    let (fields, origin) = (Object::default(), Origin::new("server model"));
    let request = Request { fields: &fields, items, origin: &origin };
    let encode = UpstreamApi::Chat.encoder().expect("Chat Completions is encoded");
    let encoded = encode(request).expect("Chat Completions carries it");
    let body: Value = serde_json::from_slice(&encoded.body).expect("a body is JSON");
    body["messages"].as_array().expect("messages are an array").clone()
}

/// Whether Chat Completions can express the item or can do without it. Neither is true for an
/// output without a `call_id`.
fn is_carried(item: &Value) -> bool {
    match item["type"].as_str() {
        Some("function_call_output") => item["call_id"].is_string(),
        Some(kind) => {
            let kinds = [
                "message",
                "reasoning",
                "function_call",
                "custom_tool_call",
                "custom_tool_call_output",
                "web_search_call",
            ];
            kinds.contains(&kind) || kind.contains(':')
        }
        None => item["role"].is_string(),
    }
}

fn carried(items: Vec<Value>) -> Vec<Value> {
    items.into_iter().filter(is_carried).collect()
}

fn values(history: &History) -> Vec<Value> {
    carried(history.pieces.iter().map(|piece| piece.json.clone()).collect())
}

/// Rules of some chat templates and servers: a message with calls is followed by one `tool` message
/// per call, in their order; `tool` messages occur nowhere else; and no two assistant messages are
/// adjacent.
fn judge(messages: &[Value]) -> Result<(), String> {
    let mut waiting: Vec<Value> = Vec::new();
    let mut last = None;
    for message in messages {
        let role = message["role"].as_str().ok_or("a message has a role")?;
        if role == "tool" {
            if waiting.is_empty() || waiting.remove(0) != message["tool_call_id"] {
                return Err(format!("no call waits for {message}"));
            }
        } else if !waiting.is_empty() {
            return Err(format!("no output for {waiting:?}"));
        }
        if role == "assistant" && last == Some("assistant") {
            return Err(format!("an assistant before {message}"));
        }
        let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        waiting.extend(calls.iter().map(|call| call["id"].clone()));
        last = Some(role);
    }
    if waiting.is_empty() { Ok(()) } else { Err(format!("no output for {waiting:?}")) }
}

fn said_by<'a>(role: &str, messages: impl IntoIterator<Item = &'a Value>) -> Vec<&'a Value> {
    let is_his = |message: &&Value| message["role"] == role;
    messages.into_iter().filter(is_his).map(|message| &message["content"]).collect()
}

/// The numbers of the calls, in order. They are unique in the generated histories.
fn numbers(messages: &[Value]) -> Vec<String> {
    let calls = messages.iter().filter_map(|message| message["tool_calls"].as_array()).flatten();
    let number = |call: &Value| {
        let input = call["custom"]["input"].as_str();
        let arguments = call["function"]["arguments"].as_str();
        input.or(arguments).expect("a call has an input").to_owned()
    };
    calls.map(number).collect()
}

proptest! {
    #[test]
    fn repaired_calls_precede_their_outputs(
        (turns, numbering, mishaps) in (turns(), numbering(), mishaps()),
    ) {
        let history = History::from_turns(&turns, numbering, End::Over);
        let broken = carried(mangled(values(&history), &mishaps));
        let messages = messages(&repair(&items(&broken)).items);
        prop_assert_eq!(judge(&messages), Ok(()), "{:?}", messages);
    }

    #[test]
    fn outputs_match_their_calls(
        (turns, numbering) in (turns(), numbering()),
    ) {
        let history = History::from_turns(&turns, numbering, End::Over);
        let messages = messages(&items(&values(&history)));
        prop_assert_eq!(judge(&messages), Ok(()));
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
        let called: Vec<String> = numbers(&messages).iter().map(|text| digits(text)).collect();
        let outputs = said_by("tool", &messages);
        let answered: Vec<String> =
            outputs.iter().map(|output| digits(output.as_str().unwrap_or_default())).collect();
        prop_assert_eq!(called, answered);
    }

    #[test]
    fn user_messages_keep_their_order(
        (turns, numbering, late) in (turns(), numbering(), any::<prop::sample::Index>()),
    ) {
        let history = History::from_turns(&turns, numbering, End::Waiting);
        let mut given = values(&history);
        let at = late.index(given.len() + 1);
        given.insert(at, crate::history::user("by the way"));
        let outputs = history.outputs_to_come.iter().map(|piece| piece.json.clone());
        given.extend(carried(outputs.collect()));
        let messages = messages(&items(&given));
        prop_assert_eq!(judge(&messages), Ok(()));
        prop_assert_eq!(said_by("user", &messages), said_by("user", &given));
    }
}

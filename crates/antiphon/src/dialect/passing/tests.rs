//! Answers that pass. The properties come from the contract: an answer without repeated calls keeps
//! its bytes, and a repeated call leaves no trace.

use bytes::Bytes;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::PassingAnswer;
use crate::dialect::ClientApi;
use ClientApi::{Anthropic, Chat};

const LIMIT: usize = 1 << 20;

/// The bytes that pass of a stream in pieces of these lengths, and the number of repairs.
fn pass(mut answer: PassingAnswer, bytes: &str, piece: usize) -> (String, u64) {
    let mut passed = Vec::new();
    for piece in bytes.as_bytes().chunks(piece.max(1)) {
        passed.extend_from_slice(&answer.push(&Bytes::copy_from_slice(piece)));
    }
    passed.extend_from_slice(&answer.finish());
    (String::from_utf8(passed).unwrap(), answer.repairs())
}

fn pass_stream(api: ClientApi, stream: &str) -> (String, u64) {
    let whole = pass(PassingAnswer::stream(api, LIMIT), stream, usize::MAX);
    for piece in [1, 7, 64] {
        assert_eq!(pass(PassingAnswer::stream(api, LIMIT), stream, piece), whole);
    }
    whole
}

fn chunk(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    format!("data: {}\n\n", json!({"id": "chatcmpl-1", "choices": [choice]}))
}

/// The fragments of a call at this index: its announcement, and its arguments in two parts.
fn chat_call(index: u64, id: &str, arguments: &str) -> String {
    let (head, tail) = arguments.split_at(arguments.len() / 2);
    let announced = json!({"index": index, "id": id, "type": "function",
        "function": {"name": "f", "arguments": ""}});
    let part = |text: &str| json!({"index": index, "function": {"arguments": text}});
    let calls = [announced, part(head), part(tail)];
    calls.map(|call| chunk(&json!({"tool_calls": [call]}), None)).concat()
}

fn chat_end() -> String {
    format!("{}data: [DONE]\n\n", chunk(&json!({}), Some("tool_calls")))
}

/// The calls that a client assembles: ids and arguments by index.
fn chat_calls(stream: &str) -> Vec<(String, String)> {
    let mut calls: Vec<(String, String)> = Vec::new();
    let events = stream.split("\n\n").filter_map(|event| event.strip_prefix("data: "));
    for chunk in events.filter_map(|data| serde_json::from_str::<Value>(data).ok()) {
        for call in chunk["choices"][0]["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let index = usize::try_from(call["index"].as_u64().unwrap()).unwrap();
            assert!(index <= calls.len(), "indexes have no gap");
            if index == calls.len() {
                calls.push((call["id"].as_str().unwrap().to_owned(), String::new()));
            }
            let arguments = call["function"]["arguments"].as_str();
            calls[index].1.push_str(arguments.unwrap_or_default());
        }
    }
    calls
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

/// The events of a `tool_use` block.
fn block(index: u64, id: &str, input: &str) -> String {
    let (head, tail) = input.split_at(input.len() / 2);
    let delta = |text: &str| {
        json!({"type": "content_block_delta", "index": index,
            "delta": {"type": "input_json_delta", "partial_json": text}})
    };
    let start = json!({"type": "content_block_start", "index": index,
        "content_block": {"type": "tool_use", "id": id, "name": "f", "input": {}}});
    let stop = json!({"type": "content_block_stop", "index": index});
    [start, delta(head), delta(tail), stop].map(|data| event(&data)).concat()
}

fn message_end() -> String {
    let delta = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}});
    event(&delta) + &event(&json!({"type": "message_stop"}))
}

#[test]
fn repeated_call_of_a_completion_is_removed() {
    let first = chat_call(0, "call_1", r#"{"a":1}"#);
    let once = [&first, &chat_call(1, "call_2", "{}"), &chat_end()].map(String::as_str).concat();
    for repeat in [r#"{"a":1}"#, r#"{ "a": 1 }"#, ""] {
        let repeat = chat_call(1, "call_1", repeat);
        let other = chat_call(2, "call_2", "{}");
        let twice = [&first, &repeat, &other, &chat_end()].map(String::as_str).concat();
        let (passed, repairs) = pass_stream(Chat, &twice);
        assert_eq!(chat_calls(&passed), chat_calls(&once));
        assert_eq!(repairs, 1);
        assert!(passed.ends_with(&chat_end()));
    }
}

#[test]
fn whole_call_that_is_announced_again_at_its_index_is_removed() {
    let whole = json!({"index": 0, "id": "call_1", "type": "function",
        "function": {"name": "f", "arguments": r#"{"a":1}"#}});
    let announced = chunk(&json!({"tool_calls": [whole]}), None);
    let once = format!("{announced}{}", chat_end());
    let twice = format!("{announced}{announced}{}", chat_end());
    assert_eq!(pass_stream(Chat, &twice), (once, 1));
}

#[test]
fn other_call_with_a_taken_id_gets_its_own() {
    let stream = [
        chat_call(0, "call_1", r#"{"a":1}"#),
        chat_call(1, "call_1", r#"{"a":2}"#),
        chat_call(2, "call_3", "{}"),
        chat_end(),
    ];
    let (passed, repairs) = pass_stream(Chat, &stream.concat());
    let expected = [("call_1", r#"{"a":1}"#), ("call_3", "{}"), ("call_1_2", r#"{"a":2}"#)];
    let expected = expected.map(|(id, arguments)| (id.to_owned(), arguments.to_owned()));
    assert_eq!(chat_calls(&passed), expected);
    assert_eq!(repairs, 1);

    let stream = [block(0, "toolu_1", r#"{"a":1}"#), block(1, "toolu_1", r#"{"a":2}"#)];
    let (passed, repairs) = pass_stream(Anthropic, &(stream.concat() + &message_end()));
    let expected = [block(0, "toolu_1", r#"{"a":1}"#), block(1, "toolu_1_2", r#"{"a":2}"#)];
    assert_eq!(data_of(&passed), data_of(&(expected.concat() + &message_end())));
    assert_eq!(repairs, 1);
}

#[test]
fn repeated_block_of_a_message_is_removed() {
    let (first, other) = (block(0, "toolu_1", r#"{"a":1}"#), block(1, "toolu_2", "{}"));
    let once = format!("{first}{other}{}", message_end());
    for repeat in [r#"{"a":1}"#, r#"{"a": 1}"#, ""] {
        let repeat = block(1, "toolu_1", repeat);
        let other = block(2, "toolu_2", "{}");
        let twice = format!("{first}{repeat}{other}{}", message_end());
        let (passed, repairs) = pass_stream(Anthropic, &twice);
        assert_eq!((data_of(&passed), repairs), (data_of(&once), 1));
    }
}

/// The data of the events.
fn data_of(stream: &str) -> Vec<Value> {
    let lines = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// A comment within a repeated block is not part of it.
#[test]
fn events_around_a_repeated_block_stay() {
    let ping = event(&json!({"type": "ping"}));
    let first = block(0, "toolu_1", "{}");
    let repeat = block(1, "toolu_1", "{}");
    let (start, rest) = repeat.split_at(repeat.find("\n\n").unwrap() + 2);
    let twice = format!("{first}{start}{ping}: wait\n\n{rest}{}", message_end());
    let once = format!("{first}{ping}: wait\n\n{}", message_end());
    assert_eq!(pass_stream(Anthropic, &twice), (once, 1));
}

/// A call of a whole completion.
fn whole_call(id: &str, arguments: &str) -> Value {
    let function = json!({"name": "f", "arguments": arguments});
    json!({"id": id, "type": "function", "function": function})
}

#[test]
fn json_answers_lose_repeated_calls_only() {
    let call = whole_call;
    let completion = |calls: Value| {
        json!({"choices": [{"index": 0, "message": {"role": "assistant", "tool_calls": calls},
            "finish_reason": "tool_calls"}]})
    };
    let used =
        |id: &str, input: Value| json!({"type": "tool_use", "id": id, "name": "f", "input": input});
    let text = json!({"type": "text", "text": "t"});
    for (api, given, expected) in [
        (
            Chat,
            completion(json!([call("a", "{}"), call("a", ""), call("a", "[1]"), call("b", "{}")])),
            completion(json!([call("a", "{}"), call("a_2", "[1]"), call("b", "{}")])),
        ),
        (
            Anthropic,
            json!({"content": [text, used("a", json!({"x": 1})), used("a", json!({"x": 1})),
                used("a", json!({"x": 2}))]}),
            json!({"content": [text, used("a", json!({"x": 1})), used("a_2", json!({"x": 2}))]}),
        ),
    ] {
        let (passed, repairs) = pass(PassingAnswer::json(api, LIMIT), &given.to_string(), 10);
        assert_eq!(serde_json::from_str::<Value>(&passed).unwrap(), expected);
        assert_eq!(repairs, 2);
        let unchanged = serde_json::to_string_pretty(&expected).unwrap();
        let passed = pass(PassingAnswer::json(api, LIMIT), &unchanged, 10);
        assert_eq!(passed, (unchanged, 0));
    }
}

#[test]
fn answer_over_the_limit_passes_as_it_is() {
    let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(200));
    let (first, repeat) = (chat_call(0, "call_1", &long), chat_call(1, "call_1", &long));
    let twice = format!("{first}{repeat}{}", chat_end());
    let (passed, _) = pass(PassingAnswer::stream(Chat, 64), &twice, 16);
    assert_eq!(passed, twice);
    let message = json!({"content": [{"type": "text", "text": long}]}).to_string();
    assert_eq!(pass(PassingAnswer::json(Anthropic, 64), &message, 16), (message, 0));
}

/// A part of a stream: a call of this number, text, a comment, or something else.
fn part(api: ClientApi, number: u64, choice: u8) -> String {
    match (choice % 4, api) {
        (0, Chat) => chat_call(number, &format!("call_{number}"), r#"{"n":"ä"}"#),
        (0, Anthropic) => block(number, &format!("toolu_{number}"), r#"{"n":"a"}"#),
        (1, Chat) => chunk(&json!({"content": "about tool_calls"}), None),
        (1, Anthropic) => event(&json!({"type": "ping", "about": "tool_use"})),
        (2, _) => ": comment\r\n\r\n".to_owned(),
        _ => "data: {\"tool_calls\": \"\ndata: no JSON\n\n".to_owned(),
    }
}

proptest! {
    #[test]
    fn stream_without_repeats_keeps_its_bytes(
        choices in prop::collection::vec(any::<u8>(), 0..12),
        piece in 1_usize..200,
        cut in 0_usize..200,
    ) {
        for api in [Chat, Anthropic] {
            let mut calls = 0;
            let parts = choices.iter().map(|choice| {
                let part = part(api, calls, *choice);
                calls += u64::from(choice % 4 == 0);
                part
            });
            let mut stream: String = parts.collect();
            while !stream.is_char_boundary(stream.len().saturating_sub(cut)) {
                stream.pop();
            }
            stream.truncate(stream.len().saturating_sub(cut));
            let answer = PassingAnswer::stream(api, LIMIT);
            prop_assert_eq!(pass(answer, &stream, piece), (stream, 0));
        }
    }
}

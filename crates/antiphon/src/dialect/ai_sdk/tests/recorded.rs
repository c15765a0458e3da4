//! Streams of `ai` 6 and 7 for fixed answers (`tests/recordings/ai-sdk`), and handwritten streams.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::world::{ClientView, World};

const TEXT: &str = "The sky over Paris is \"clear\".\nGrüße 👋";
const PARIS: &str = r#"{"city":"Paris"}"#;

/// The inputs whose names have this prefix, by name.
fn inputs(prefix: &str) -> Vec<(String, Vec<u8>)> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/ai-sdk");
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let named = files.filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), path)));
    let named = named.filter(|(name, _)| name.starts_with(prefix));
    let mut inputs: Vec<_> = named.map(|(name, path)| (name, fs::read(path).unwrap())).collect();
    inputs.sort();
    inputs
}

/// The decoded recordings of a case, by name.
fn recordings(case: &str) -> Vec<(String, ClientView)> {
    let recorded = inputs("recorded-").into_iter();
    let recorded = recorded.filter(|(name, _)| name.contains(&format!("-{case}-")));
    let received: Vec<_> = recorded
        .map(|(name, ndjson)| (name, World::asking(json!({})).decode_bytes(&ndjson)))
        .collect();
    assert!(!received.is_empty(), "{case}");
    received
}

fn texts(received: &ClientView) -> Vec<String> {
    let messages = received.items("message").into_iter();
    messages.map(|item| item["content"][0]["text"].as_str().unwrap().to_owned()).collect()
}

fn calls(received: &ClientView) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let calls = received.items("function_call").into_iter();
    calls.map(|item| (text(&item["call_id"]), text(&item["arguments"]))).collect()
}

fn is_completed(name: &str, received: &ClientView, requests: u64) {
    let response = received.response();
    assert_eq!(response["status"], "completed", "{name}");
    let usage = &response["usage"];
    assert_eq!(usage["output_tokens"], 34 * requests, "{name}");
    assert_eq!(usage["input_tokens_details"]["cached_tokens"], 4 * requests, "{name}");
    assert!(received.left_out().is_empty(), "{name}: {:?}", received.left_out());
}

#[test]
fn recorded_text_is_one_message() {
    for (name, received) in recordings("text") {
        assert_eq!(texts(&received), [TEXT], "{name}");
        assert_eq!(received.kinds(), ["message"], "{name}");
        is_completed(&name, &received, 1);
    }
}

#[test]
fn recorded_reasoning_precedes_call_and_output() {
    for (name, received) in recordings("reasoning-then-call") {
        assert_eq!(calls(&received), [("call_paris".to_owned(), PARIS.to_owned())], "{name}");
        let reasoning = &received.items("reasoning")[0];
        let parts = [&reasoning["summary"], &reasoning["content"]];
        let parts = parts.into_iter().filter_map(|list| list.as_array()).flatten();
        let message: String = parts.map(|part| part["text"].as_str().unwrap()).collect();
        assert_eq!(message, "The user wants the weather. I ask the tool.", "{name}");
        if name.ends_with("-model") {
            assert_eq!(received.kinds(), ["reasoning", "function_call"], "{name}");
            is_completed(&name, &received, 1);
        } else {
            let kinds = ["reasoning", "function_call", "function_call_output", "message"];
            assert_eq!(received.kinds(), kinds, "{name}");
            assert_eq!(
                received.output()[2]["output"],
                r#"{"city":"Paris","sky":"clear"}"#,
                "{name}"
            );
            assert_eq!(texts(&received), [TEXT], "{name}");
            is_completed(&name, &received, 2);
        }
    }
}

/// `@ai-sdk/open-responses` supports encrypted content from version 2 on.
#[test]
fn recorded_reasoning_keeps_provider_data() {
    for (name, received) in recordings("reasoning-then-call") {
        let encrypted = received.items("reasoning")[0]["encrypted_content"].clone();
        let encrypted = encrypted.as_str();
        match () {
            () if name.contains("-anthropic-") => {
                assert!(encrypted.is_some_and(|it| it.contains("EqQBsigned")), "{name}");
            }
            () if name.contains("-openai-compatible-") || name.contains("ai6-open-responses") => {
                assert_eq!(encrypted, None, "{name}");
            }
            () => assert_eq!(encrypted, Some("gAAAAABended"), "{name}"),
        }
    }
}

#[test]
fn two_recorded_calls_are_two_items() {
    for (name, received) in recordings("two-calls") {
        let rome = r#"{"city":"Rome"}"#;
        let both = [("call_paris", PARIS), ("call_rome", rome)];
        assert_eq!(
            calls(&received),
            both.map(|(id, input)| (id.to_owned(), input.to_owned())),
            "{name}"
        );
        assert_eq!(received.output().len(), 2, "{name}");
        is_completed(&name, &received, 1);
    }
}

/// Version 1 of `@ai-sdk/open-responses` ignores an `error` event, so its stream has no error.
#[test]
fn recorded_error_fails_response() {
    for (name, received) in recordings("error") {
        assert_eq!(texts(&received), ["The sky over "], "{name}");
        if !name.contains("ai6-open-responses") {
            let response = received.response();
            assert_eq!(response["status"], "failed", "{name}");
            assert_eq!(response["error"]["message"], "The server is overloaded.", "{name}");
        }
    }
}

#[test]
fn recorded_custom_tool_gets_its_text() {
    for (name, received) in recordings("custom-tool") {
        let item = received.only_item();
        assert_eq!(item["type"], "custom_tool_call", "{name}");
        assert_eq!(item["input"], "SELECT \"a\"\nFROM t", "{name}");
        is_completed(&name, &received, 1);
    }
}

#[test]
fn recorded_provider_tool_is_not_a_function_call() {
    for (name, received) in recordings("provider-tool") {
        assert!(calls(&received).is_empty(), "{name}");
        assert_eq!(received.items("ai-sdk:tool-call").len(), 1, "{name}");
        assert_eq!(received.items("ai-sdk:tool-result").len(), 1, "{name}");
        assert_eq!(texts(&received), [TEXT], "{name}");
        is_completed(&name, &received, 1);
    }
}

#[test]
fn handwritten_streams_have_one_item_per_call() {
    let written = inputs("seed-");
    assert!(!written.is_empty());
    for (name, ndjson) in written {
        let received = World::asking(json!({})).decode_bytes(&ndjson);
        if String::from_utf8_lossy(&ndjson).contains("call_123") {
            let called: Vec<_> = calls(&received).into_iter().map(|(id, _)| id).collect();
            assert_eq!(called, ["call_123"], "{name}");
        }
    }
}

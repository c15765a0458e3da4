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
    let told: Vec<_> = recorded
        .map(|(name, ndjson)| (name, World::asking(json!({})).decode_bytes(&ndjson)))
        .collect();
    assert!(!told.is_empty(), "{case}");
    told
}

fn texts(told: &ClientView) -> Vec<String> {
    let messages = told.items("message").into_iter();
    messages.map(|item| item["content"][0]["text"].as_str().unwrap().to_owned()).collect()
}

fn calls(told: &ClientView) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let calls = told.items("function_call").into_iter();
    calls.map(|item| (text(&item["call_id"]), text(&item["arguments"]))).collect()
}

fn is_completed(name: &str, told: &ClientView, requests: u64) {
    let response = told.response();
    assert_eq!(response["status"], "completed", "{name}");
    let usage = &response["usage"];
    assert_eq!(usage["output_tokens"], 34 * requests, "{name}");
    assert_eq!(usage["input_tokens_details"]["cached_tokens"], 4 * requests, "{name}");
    assert!(told.left_out().is_empty(), "{name}: {:?}", told.left_out());
}

#[test]
fn recorded_text_is_one_message() {
    for (name, told) in recordings("text") {
        assert_eq!(texts(&told), [TEXT], "{name}");
        assert_eq!(told.kinds(), ["message"], "{name}");
        is_completed(&name, &told, 1);
    }
}

#[test]
fn recorded_reasoning_precedes_call_and_output() {
    for (name, told) in recordings("reasoning-then-call") {
        assert_eq!(calls(&told), [("call_paris".to_owned(), PARIS.to_owned())], "{name}");
        let reasoning = &told.items("reasoning")[0];
        let parts = [&reasoning["summary"], &reasoning["content"]];
        let parts = parts.into_iter().filter_map(|list| list.as_array()).flatten();
        let said: String = parts.map(|part| part["text"].as_str().unwrap()).collect();
        assert_eq!(said, "The user wants the weather. I ask the tool.", "{name}");
        if name.ends_with("-model") {
            assert_eq!(told.kinds(), ["reasoning", "function_call"], "{name}");
            is_completed(&name, &told, 1);
        } else {
            let kinds = ["reasoning", "function_call", "function_call_output", "message"];
            assert_eq!(told.kinds(), kinds, "{name}");
            assert_eq!(told.output()[2]["output"], r#"{"city":"Paris","sky":"clear"}"#, "{name}");
            assert_eq!(texts(&told), [TEXT], "{name}");
            is_completed(&name, &told, 2);
        }
    }
}

/// `@ai-sdk/open-responses` supports encrypted content from version 2 on.
#[test]
fn recorded_reasoning_keeps_provider_data() {
    for (name, told) in recordings("reasoning-then-call") {
        let encrypted = told.items("reasoning")[0]["encrypted_content"].clone();
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
    for (name, told) in recordings("two-calls") {
        let rome = r#"{"city":"Rome"}"#;
        let both = [("call_paris", PARIS), ("call_rome", rome)];
        assert_eq!(
            calls(&told),
            both.map(|(id, input)| (id.to_owned(), input.to_owned())),
            "{name}"
        );
        assert_eq!(told.output().len(), 2, "{name}");
        is_completed(&name, &told, 1);
    }
}

/// Version 1 of `@ai-sdk/open-responses` ignores an `error` event, so its stream has no error.
#[test]
fn recorded_error_fails_response() {
    for (name, told) in recordings("error") {
        assert_eq!(texts(&told), ["The sky over "], "{name}");
        if !name.contains("ai6-open-responses") {
            let response = told.response();
            assert_eq!(response["status"], "failed", "{name}");
            assert_eq!(response["error"]["message"], "The server is overloaded.", "{name}");
        }
    }
}

#[test]
fn recorded_custom_tool_gets_its_text() {
    for (name, told) in recordings("custom-tool") {
        let item = told.only_item();
        assert_eq!(item["type"], "custom_tool_call", "{name}");
        assert_eq!(item["input"], "SELECT \"a\"\nFROM t", "{name}");
        is_completed(&name, &told, 1);
    }
}

#[test]
fn recorded_provider_tool_is_not_a_function_call() {
    for (name, told) in recordings("provider-tool") {
        assert!(calls(&told).is_empty(), "{name}");
        assert_eq!(told.items("ai-sdk:tool-call").len(), 1, "{name}");
        assert_eq!(told.items("ai-sdk:tool-result").len(), 1, "{name}");
        assert_eq!(texts(&told), [TEXT], "{name}");
        is_completed(&name, &told, 1);
    }
}

#[test]
fn handwritten_streams_have_one_item_per_call() {
    let written = inputs("seed-");
    assert!(!written.is_empty());
    for (name, ndjson) in written {
        let told = World::asking(json!({})).decode_bytes(&ndjson);
        if String::from_utf8_lossy(&ndjson).contains("call_123") {
            let called: Vec<_> = calls(&told).into_iter().map(|(id, _)| id).collect();
            assert_eq!(called, ["call_123"], "{name}");
        }
    }
}

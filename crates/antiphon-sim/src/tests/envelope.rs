//! The response object around an answer.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::lifecycle::for_every_answer;
use super::{ask, echo, user};

#[test]
fn every_response_object_has_all_specified_keys() {
    const KEYS: [&str; 31] = [
        "background",
        "completed_at",
        "created_at",
        "error",
        "frequency_penalty",
        "id",
        "incomplete_details",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "metadata",
        "model",
        "object",
        "output",
        "parallel_tool_calls",
        "presence_penalty",
        "previous_response_id",
        "prompt_cache_key",
        "reasoning",
        "safety_identifier",
        "service_tier",
        "status",
        "store",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "truncation",
        "usage",
    ];
    for_every_answer(|answered| {
        for event in answered.events.iter().filter(|event| event.get("response").is_some()) {
            let keys: HashSet<&str> =
                event["response"].as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(keys, HashSet::from(KEYS));
        }
    });
}

#[test]
fn response_echoes_its_request() {
    let answered = ask(json!({
        "input": "hi",
        "instructions": "Be kind.",
        "metadata": { "a": "b" },
        "reasoning": { "effort": "low" },
        "store": false,
        "temperature": 0.5,
        "tools": [echo()],
        "top_p": null,
    }));
    let response = answered.response();
    assert_eq!(response["instructions"], "Be kind.");
    assert_eq!(response["metadata"], json!({ "a": "b" }));
    assert_eq!(response["model"], "sim");
    assert_eq!(response["reasoning"], json!({ "effort": "low", "summary": null }));
    assert_eq!(response["store"], false);
    assert_eq!(response["temperature"], 0.5);
    assert_eq!(response["text"], json!({ "format": { "type": "text" } }));
    assert_eq!(response["tools"][0]["description"], Value::Null);
    assert_eq!(response["tools"][0]["strict"], true);
    assert_eq!(response["top_p"], 1);
}

#[test]
fn usage_counts_the_words_of_the_context_and_of_the_answer() {
    let answered = ask(json!({ "instructions": "Be very kind.", "input": [user("One two")] }));
    assert_eq!(
        answered.response()["usage"],
        json!({
            "input_tokens": 5,
            "input_tokens_details": { "cached_tokens": 0, "cache_write_tokens": 0 },
            "output_tokens": 3,
            "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": 8,
        })
    );
    let answered = ask(json!({ "input": "echo hi", "tools": [echo()] }));
    assert_eq!(answered.response()["usage"]["output_tokens_details"]["reasoning_tokens"], 2);
}

//! The response object.

use antiphon_mock::Answer;
use serde_json::{Value, json};

use crate::{events, full_answer, names};

/// The required keys of the specification's `ResponseResource`.
const RESPONSE_KEYS: [&str; 31] = [
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

fn is_full_response(response: &Value) -> bool {
    let keys = response.as_object().expect("a response is an object");
    RESPONSE_KEYS.iter().all(|key| keys.contains_key(*key)) && response["object"] == "response"
}

#[test]
fn every_response_object_has_all_required_keys() {
    let all = events(&full_answer());
    let responses: Vec<&Value> =
        all.iter().map(|event| &event["response"]).filter(|it| !it.is_null()).collect();
    assert_eq!(responses.len(), 3);
    assert!(responses.iter().all(|response| is_full_response(response)));
    assert!(responses.iter().all(|response| response["id"] == responses[0]["id"]));
    assert_eq!(responses[0]["status"], "in_progress");
    assert_eq!(responses[0]["output"], json!([]));
    assert_eq!(responses[2]["status"], "completed");
    assert!(responses[2]["completed_at"].is_u64());
    for count in ["input_tokens", "output_tokens", "total_tokens"] {
        assert!(responses[2]["usage"][count].is_u64(), "{count}");
    }
}

#[test]
fn incomplete_answer_has_an_incomplete_last_item() {
    let answer = Answer::new("fake-model").reasoning("Hm").message("Hello my").incomplete();
    assert_eq!(names(&answer).last().unwrap(), "response.incomplete");
    let response = answer.json();
    assert!(is_full_response(&response));
    assert_eq!(response["status"], "incomplete");
    assert_eq!(response["incomplete_details"], json!({"reason": "max_output_tokens"}));
    assert_eq!(response["completed_at"], Value::Null);
    assert_eq!(response["output"][1]["status"], "incomplete");
}

#[test]
fn failed_answer_has_an_error() {
    let answer = Answer::new("fake-model").message("Hello").failed("server_error", "It broke.");
    assert_eq!(names(&answer).last().unwrap(), "response.failed");
    let response = answer.json();
    assert!(is_full_response(&response));
    assert_eq!(response["status"], "failed");
    assert_eq!(response["error"], json!({"code": "server_error", "message": "It broke."}));
}

#[test]
fn request_settings_are_echoed() {
    let tool = json!({"type": "function", "name": "echo", "strict": true});
    let request = json!({
        "tools": [tool], "tool_choice": "none", "temperature": 0.5, "instructions": "Be brief.",
        "metadata": {"a": "b"}, "reasoning": {"effort": "low"}, "text": {"verbosity": "low"},
    });
    let response = Answer::new("fake-model").request(&request).json();
    let echoed = json!({"type": "function", "name": "echo", "strict": true, "description": null,
        "parameters": null});
    assert_eq!(response["tools"], json!([echoed]));
    assert_eq!(response["tool_choice"], "none");
    assert_eq!(response["temperature"], 0.5);
    assert_eq!(response["instructions"], "Be brief.");
    assert_eq!(response["metadata"], json!({"a": "b"}));
    assert_eq!(response["reasoning"], json!({"effort": "low", "summary": null}));
    assert_eq!(response["text"], json!({"format": {"type": "text"}, "verbosity": "low"}));
}

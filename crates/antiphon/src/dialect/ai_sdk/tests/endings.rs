//! The end of answers, and their usage.

use serde_json::{Value, json};

use super::world::*;

fn hello() -> Value {
    json!({"type": "text-delta", "id": "0", "delta": "Hello."})
}

fn usage(input: u64, cached: u64, output: u64, reasoning: u64) -> Value {
    json!({
        "input_tokens": input,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": input + output,
    })
}

#[test]
fn finish_reason_decides_response_status() {
    for (reason, status, details) in [
        ("stop", "completed", Value::Null),
        ("tool-calls", "completed", Value::Null),
        ("other", "completed", Value::Null),
        ("unknown", "completed", Value::Null),
        ("length", "incomplete", json!({"reason": "max_output_tokens"})),
        ("content-filter", "incomplete", json!({"reason": "content_filter"})),
        ("error", "failed", Value::Null),
        ("interrupted", "failed", Value::Null),
    ] {
        for reason in [json!(reason), json!({"unified": reason, "raw": "whatever"})] {
            let received = decode(&[hello(), json!({"type": "finish", "finishReason": reason})]);
            let response = received.response();
            assert_eq!(
                (&response["status"], &response["incomplete_details"]),
                (&json!(status), &details)
            );
        }
    }
}

#[test]
fn usage_is_parsed_for_every_version() {
    let of_5 = json!({"inputTokens": 12, "outputTokens": 34, "totalTokens": 46,
        "reasoningTokens": 5, "cachedInputTokens": 4});
    let of_a_model = json!({"inputTokens": {"total": 12, "noCache": 8, "cacheRead": 4},
        "outputTokens": {"total": 34, "text": 29, "reasoning": 5}, "raw": {}});
    let of_a_run = json!({"inputTokens": 12, "inputTokenDetails": {"cacheReadTokens": 4},
        "outputTokens": 34, "outputTokenDetails": {"reasoningTokens": 5}, "totalTokens": 46});
    for given in [of_5, of_a_model, of_a_run] {
        for key in ["usage", "totalUsage"] {
            let received =
                decode(&[hello(), json!({"type": "finish", "finishReason": "stop", key: given})]);
            assert_eq!(received.response()["usage"], usage(12, 4, 34, 5));
        }
    }
}

#[test]
fn missing_usage_is_unknown() {
    let uncounted = json!({"inputTokens": {}, "outputTokens": {}});
    let received =
        decode(&[hello(), json!({"type": "finish", "finishReason": "stop", "usage": uncounted})]);
    assert_eq!(received.response()["usage"], Value::Null);
}

/// The stream was truncated after a step: that step is the last one, and the usage of all steps
/// counts.
#[test]
fn run_ending_after_a_step_completes() {
    let step = |reason: &str| {
        json!({"type": "finish-step", "finishReason": reason,
            "usage": {"inputTokens": 12, "outputTokens": 34},
            "response": {"modelId": "gpt-5"}})
    };
    let parts = [start_step(), hello(), step("tool-calls"), start_step(), hello(), step("stop")];
    let response = decode(&parts).response().clone();
    assert_eq!((&response["status"], &response["model"]), (&json!("completed"), &json!("gpt-5")));
    assert_eq!(response["usage"], usage(24, 0, 68, 0));
    assert_eq!(decode(&parts[..5]).response()["status"], "failed");
}

#[test]
fn step_ended_by_limit_leaves_items_incomplete() {
    let received = decode(&[start_step(), hello(), finish_step("length"), finish("length")]);
    assert_eq!(received.only_item()["status"], "incomplete");
}

#[test]
fn stream_without_finish_is_truncated() {
    assert_eq!(decode(&[hello()]).response()["status"], "failed");
}

#[test]
fn error_fails_response_with_its_message() {
    for error in [
        json!("Overloaded."),
        json!({"name": "AI_APICallError", "message": "Overloaded."}),
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded."}}),
    ] {
        let received =
            decode(&[hello(), json!({"type": "error", "error": error}), finish("error")]);
        assert_eq!(received.response()["status"], "failed");
        assert_eq!(
            received.response()["error"],
            json!({"code": "server_error", "message": "Overloaded."})
        );
    }
    let coded =
        json!({"type": "error", "error": {"code": "rate_limit_exceeded", "message": "Slow down."}});
    assert_eq!(decode(&[coded]).response()["error"]["code"], "rate_limit_exceeded");
}

#[test]
fn empty_error_fails_response() {
    for error in [json!({}), json!(""), Value::Null] {
        let received = decode(&[json!({"type": "error", "error": error})]);
        let message = received.response()["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(message, "The upstream failed without an error message.");
    }
}

#[test]
fn abort_fails_with_its_own_code() {
    let received = decode(&[start_step(), hello(), json!({"type": "abort", "reason": "Stopped."})]);
    assert_eq!(received.response()["error"], json!({"code": "aborted", "message": "Stopped."}));
    assert_eq!(received.only_item()["status"], "incomplete");
    let received = decode(&[json!({"type": "abort"})]);
    assert_eq!(received.response()["error"]["code"], "aborted");
}

#[test]
fn model_name_comes_from_metadata() {
    let metadata = json!({"type": "response-metadata", "id": "resp_1", "modelId": "gpt-5"});
    let received = decode(&[
        json!({"type": "stream-start", "warnings": []}),
        metadata,
        hello(),
        finish("stop"),
    ]);
    assert_eq!(received.events[0]["response"]["model"], "gpt-5");
}

#[test]
fn irrelevant_parts_are_ignored() {
    let received = decode(&[
        json!({"type": "raw", "rawValue": {"a": 1}}),
        json!({"type": "ping"}),
        json!({"type": "custom", "kind": "anthropic.message_start"}),
        json!({"no": "type"}),
        hello(),
        finish("stop"),
    ]);
    assert_eq!(received.kinds(), ["message"]);
    assert!(received.left_out().is_empty());
}

#[test]
fn unknown_part_type_is_reported_once() {
    let unknown = json!({"type": "steering-message", "id": "1"});
    let received = decode(&[unknown.clone(), unknown, hello(), finish("stop")]);
    assert_eq!(received.left_out(), ["stream part 'steering-message'"]);
}

#[test]
fn whole_answer_decodes_like_its_stream() {
    let answer = json!({
        "content": [
            {"type": "reasoning", "text": "Hm.",
                "providerMetadata": {"anthropic": {"signature": "EqQB"}}},
            {"type": "text", "text": "Hello."},
            {"type": "text", "text": "Again."},
            call("call_123", NYC),
        ],
        "finishReason": {"unified": "tool-calls", "raw": "tool_use"},
        "usage": {"inputTokens": {"total": 12}, "outputTokens": {"total": 34}},
        "response": {"id": "resp_1", "modelId": "claude"},
    });
    let received = World::asking(json!({})).decode_whole(&answer);
    assert_eq!(received.kinds(), ["reasoning", "message", "message", "function_call"]);
    assert_eq!(received.response()["model"], "claude");
    assert_eq!(received.response()["usage"], usage(12, 0, 34, 0));
}

#[test]
fn whole_answer_without_content_fails() {
    let answer = json!({"error": {"message": "Overloaded."}});
    let received = World::asking(json!({})).decode_whole(&answer);
    assert_eq!(received.response()["error"]["message"], "Overloaded.");
}

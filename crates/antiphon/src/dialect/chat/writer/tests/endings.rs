//! The end of completions, and their usage.

use serde_json::{Value, json};

use super::world::{
    added, call, completed, convert, convert_chat, convert_for, created, delta, incomplete, items,
    message,
};
use crate::dialect::Dialect;

#[test]
fn each_end_maps_to_finish_reason() {
    let (text, call) = (message("Hi"), call("call_1", "{}"));
    for (received, end, reason) in [
        (vec![text.clone()], completed(), "stop"),
        (vec![], completed(), "stop"),
        (vec![text.clone(), call.clone()], completed(), "tool_calls"),
        (vec![call.clone(), text.clone()], completed(), "tool_calls"),
        (vec![text.clone()], incomplete("max_output_tokens"), "length"),
        (vec![call], incomplete("max_output_tokens"), "length"),
        (vec![text], incomplete("content_filter"), "content_filter"),
    ] {
        assert_eq!(convert(&items(&received, &end)).finish_reason(), reason);
    }
}

#[test]
fn usage_has_details_of_chat_completions() {
    let mut end = completed();
    end["response"]["usage"] = json!({"input_tokens": 110, "output_tokens": 7, "total_tokens": 117,
        "input_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 4},
        "output_tokens_details": {"reasoning_tokens": 3}});
    let written = convert(&items(&[message("Hi")], &end));
    let usage = json!({"prompt_tokens": 110, "completion_tokens": 7, "total_tokens": 117,
        "prompt_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 3}});
    assert_eq!(written.streamed["usage"], usage);
    assert_eq!(written.streamed, written.folded);
}

#[test]
fn stream_has_usage_only_on_request() {
    let events = items(&[message("Hi")], &completed());
    let written = convert_for(&json!({}), Dialect::Responses, &events);
    assert!(written.events.iter().all(|chunk| chunk.get("usage").is_none()));
    assert!(written.folded["usage"]["prompt_tokens"].is_u64());
}

#[test]
fn failure_is_last_event_in_openai_form() {
    let failed = json!({"type": "response.failed", "response": {"status": "failed",
        "error": {"code": "rate_limit_exceeded", "message": "Slow down."}}});
    let events = [created(), added(0, &message("")), delta("output_text", 0, "Hel"), failed];
    let written = convert(&events);
    let error = json!({"error": {"message": "Slow down.", "type": "rate_limit_error",
        "param": null, "code": "rate_limit_exceeded"}});
    assert_eq!(written.events.last(), Some(&error));
    assert_eq!(written.folded, error);
}

#[test]
fn truncated_upstream_yields_error() {
    let written = convert(&[created(), added(0, &message("")), delta("output_text", 0, "Hel")]);
    assert_eq!(written.streamed["error"]["type"], "server_error");
}

#[test]
fn upstream_error_keeps_its_code() {
    let chunk = json!({"error": {"message": "Oh.", "type": "server_error", "code": "overloaded"}});
    let error = &convert_chat(&[chunk]).streamed["error"];
    assert_eq!((&error["message"], &error["code"]), (&json!("Oh."), &json!("overloaded")));
}

/// A request with the deprecated `functions` gets one `function_call`.
#[test]
fn legacy_request_gets_function_call() {
    let request: Value = json!({"functions": [{"name": "look"}]});
    let received = [call("call_1", r#"{"at":1}"#), call("call_2", "{}")];
    let written = convert_for(&request, Dialect::Responses, &items(&received, &completed()));
    let called = json!({"name": "look", "arguments": r#"{"at":1}"#});
    assert_eq!(written.message()["function_call"], called);
    assert!(written.message().get("tool_calls").is_none());
    assert_eq!(written.finish_reason(), "function_call");
}

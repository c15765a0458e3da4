//! The end of messages, and their usage.

use serde_json::json;

use super::world::{
    added, call, completed, convert, convert_anthropic, created, delta, incomplete, items, message,
};

#[test]
fn each_end_maps_to_stop_reason() {
    let (text, call) = (message("Hi"), call("call_1", "{}"));
    for (received, end, reason) in [
        (vec![text.clone()], completed(), "end_turn"),
        (vec![], completed(), "end_turn"),
        (vec![text.clone(), call.clone()], completed(), "tool_use"),
        (vec![call.clone(), text.clone()], completed(), "tool_use"),
        (vec![text.clone()], incomplete("max_output_tokens"), "max_tokens"),
        (vec![call], incomplete("max_output_tokens"), "max_tokens"),
        (vec![text], incomplete("content_filter"), "refusal"),
    ] {
        let written = convert(&items(&received, &end));
        assert_eq!(written.streamed["stop_reason"], reason);
        assert_eq!(written.streamed, written.folded);
    }
}

/// An agent that ran its tools itself leaves no call for its client.
#[test]
fn call_with_output_is_not_pending() {
    let answer = json!({"type": "function_call_output", "id": "fco_1", "call_id": "call_1",
        "output": "1", "status": "completed"});
    let received = [call("call_1", "{}"), answer, message("One.")];
    assert_eq!(convert(&items(&received, &completed())).streamed["stop_reason"], "end_turn");
    let received = [received, [call("call_2", "{}"), message(""), message("")]].concat();
    assert_eq!(convert(&items(&received, &completed())).streamed["stop_reason"], "tool_use");
}

/// "`pause_turn`": the server's tools have not finished; the client continues by sending the output
/// back.
#[test]
fn server_tool_call_ends_with_pause_turn() {
    let call = json!({"type": "anthropic:server_tool_use", "id": "i_1", "status": "completed",
        "content": {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}});
    let written = convert(&items(&[message("Wait."), call.clone()], &completed()));
    assert_eq!(written.streamed["stop_reason"], "pause_turn");
    assert_eq!(written.streamed, written.folded);
    let written = convert(&items(&[call, message("Done.")], &completed()));
    assert_eq!(written.streamed["stop_reason"], "end_turn");
}

#[test]
fn cache_tokens_are_counted_separately() {
    let mut end = completed();
    end["response"]["usage"] = json!({"input_tokens": 110, "output_tokens": 7, "total_tokens": 117,
        "input_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 4},
        "output_tokens_details": {"reasoning_tokens": 3}});
    let written = convert(&items(&[message("Hi")], &end));
    let usage = json!({"input_tokens": 6, "cache_creation_input_tokens": 4,
        "cache_read_input_tokens": 100, "output_tokens": 7});
    assert_eq!(written.streamed["usage"], usage);
    assert_eq!(written.folded["usage"], usage);
}

#[test]
fn failure_closes_blocks_and_is_last_event() {
    let failed = json!({"type": "response.failed", "response": {"status": "failed",
        "error": {"code": "server_error", "message": "Oops"}}});
    let events = [
        created(),
        added(0, &message("")),
        delta("output_text", 0, "Hel"),
        added(1, &call("call_1", "")),
        delta("function_call_arguments", 1, "{\"at\":"),
        failed,
    ];
    let written = convert(&events);
    let story = ["start 0", "delta 0", "stop 0", "start 1", "delta 1", "stop 1", "error"];
    assert_eq!(written.story()[1..], story);
    let error = json!({"type": "error", "error": {"type": "api_error", "message": "Oops"}});
    assert_eq!(written.events.last(), Some(&error));
    assert_eq!(written.folded, error);
}

#[test]
fn truncated_upstream_yields_error() {
    let written = convert(&[created(), added(0, &message("")), delta("output_text", 0, "Hel")]);
    assert_eq!(written.streamed["error"]["type"], "api_error");
}

#[test]
fn anthropic_error_keeps_its_type() {
    let error = json!({"type": "error",
        "error": {"type": "overloaded_error", "message": "Overloaded"}});
    assert_eq!(convert_anthropic(std::slice::from_ref(&error)).streamed, error);
}

//! How messages end, and what they cost.

use serde_json::json;

use super::world::{
    added, call, completed, created, delta, incomplete, items, message, rewrites, writes,
};

#[test]
fn every_end_has_its_reason_to_stop() {
    let (text, call) = (message("Hi"), call("call_1", "{}"));
    for (told, end, reason) in [
        (vec![text.clone()], completed(), "end_turn"),
        (vec![], completed(), "end_turn"),
        (vec![text.clone(), call.clone()], completed(), "tool_use"),
        (vec![call.clone(), text.clone()], completed(), "tool_use"),
        (vec![text.clone()], incomplete("max_output_tokens"), "max_tokens"),
        (vec![call], incomplete("max_output_tokens"), "max_tokens"),
        (vec![text], incomplete("content_filter"), "refusal"),
    ] {
        let written = writes(&items(&told, &end));
        assert_eq!(written.streamed["stop_reason"], reason);
        assert_eq!(written.streamed, written.folded);
    }
}

/// An agent that ran its tools by itself asks its client for nothing.
#[test]
fn a_call_that_is_answered_already_asks_for_nothing() {
    let answer = json!({"type": "function_call_output", "id": "fco_1", "call_id": "call_1",
        "output": "1", "status": "completed"});
    let told = [call("call_1", "{}"), answer, message("One.")];
    assert_eq!(writes(&items(&told, &completed())).streamed["stop_reason"], "end_turn");
    let told = [told, [call("call_2", "{}"), message(""), message("")]].concat();
    assert_eq!(writes(&items(&told, &completed())).streamed["stop_reason"], "tool_use");
}

/// "`pause_turn`: the server's own tools are not done": clients go on by sending back what they got.
#[test]
fn an_answer_that_paused_for_its_own_tools_says_so() {
    let call = json!({"type": "anthropic:server_tool_use", "id": "i_1", "status": "completed",
        "content": {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}});
    let written = writes(&items(&[message("Wait."), call.clone()], &completed()));
    assert_eq!(written.streamed["stop_reason"], "pause_turn");
    assert_eq!(written.streamed, written.folded);
    let written = writes(&items(&[call, message("Done.")], &completed()));
    assert_eq!(written.streamed["stop_reason"], "end_turn");
}

#[test]
fn what_was_read_from_a_cache_and_written_to_it_is_counted_by_itself() {
    let mut end = completed();
    end["response"]["usage"] = json!({"input_tokens": 110, "output_tokens": 7, "total_tokens": 117,
        "input_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 4},
        "output_tokens_details": {"reasoning_tokens": 3}});
    let written = writes(&items(&[message("Hi")], &end));
    let usage = json!({"input_tokens": 6, "cache_creation_input_tokens": 4,
        "cache_read_input_tokens": 100, "output_tokens": 7});
    assert_eq!(written.streamed["usage"], usage);
    assert_eq!(written.folded["usage"], usage);
}

#[test]
fn a_failure_closes_what_is_open_and_is_the_last_event() {
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
    let written = writes(&events);
    let story = ["start 0", "delta 0", "stop 0", "start 1", "delta 1", "stop 1", "error"];
    assert_eq!(written.story()[1..], story);
    let error = json!({"type": "error", "error": {"type": "api_error", "message": "Oops"}});
    assert_eq!(written.events.last(), Some(&error));
    assert_eq!(written.folded, error);
}

#[test]
fn an_upstream_that_breaks_off_is_an_error() {
    let written = writes(&[created(), added(0, &message("")), delta("output_text", 0, "Hel")]);
    assert_eq!(written.streamed["error"]["type"], "api_error");
}

#[test]
fn an_error_of_anthropics_keeps_its_type() {
    let error = json!({"type": "error",
        "error": {"type": "overloaded_error", "message": "Overloaded"}});
    assert_eq!(rewrites(std::slice::from_ref(&error)).streamed, error);
}

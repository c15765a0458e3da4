//! The rules for `messages` of Chat Completions servers.

use std::collections::HashSet;

use serde_json::Value;

/// Every call has an answer: "An assistant message with `tool_calls` must be followed by tool
/// messages responding to each `tool_call_id`", and "messages with role `tool` must be a response
/// to a preceding message with `tool_calls`".
pub fn check(body: &[u8]) {
    let Ok(body) = serde_json::from_slice::<Value>(body) else { return };
    let messages = body["messages"].as_array().expect("there are messages");
    let mut waiting: HashSet<&str> = HashSet::new();
    for message in messages {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().expect("an output names its call");
            assert!(waiting.remove(id), "{id} is answered once, and was called");
        } else {
            assert!(waiting.is_empty(), "{waiting:?} are not answered");
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let id = call["id"].as_str().expect("a call has an id");
            assert!(waiting.insert(id), "{id} is called once");
        }
    }
    assert!(waiting.is_empty(), "{waiting:?} are not answered at the end");
}

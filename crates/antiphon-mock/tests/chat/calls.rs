//! Calls, their answers, and their reasoning.

use serde_json::{Value, json};

use crate::request::{accepted, call, calling, refused, request, tool, user, with};

const INVALID: Option<&str> = Some("invalid_value");

#[test]
fn calls_are_answered_immediately_in_any_order() {
    let both = calling(&[call("call_1"), call("call_2")]);
    accepted(&request(&json!([user("hi"), both, tool("call_2"), tool("call_1"), user("bye")])));
    // Servers may use the same call ids in every message.
    let one = calling(&[call("call_0")]);
    accepted(&request(&json!([user("hi"), one, tool("call_0"), one, tool("call_0")])));
    let custom =
        json!({"id": "call_1", "type": "custom", "custom": {"name": "grep", "input": "x"}});
    accepted(&request(&json!([user("hi"), calling(&[custom]), tool("call_1")])));
}

#[test]
fn unanswered_call_is_refused() {
    let text = |ids: &str| {
        format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding \
            to each 'tool_call_id'. The following tool_call_ids did not have response messages: \
            {ids}"
        )
    };
    let both = calling(&[call("call_1"), call("call_2")]);
    let cases = [
        (json!([user("hi"), both]), 1, "call_1, call_2"),
        (json!([user("hi"), both, tool("call_1")]), 2, "call_2"),
        (json!([user("hi"), both, user("bye")]), 2, "call_1, call_2"),
        (json!([user("hi"), both, tool("call_2"), user("?"), tool("call_1")]), 3, "call_1"),
        (json!([user("hi"), both, both, tool("call_1"), tool("call_2")]), 2, "call_1, call_2"),
    ];
    for (messages, noticed, ids) in cases {
        let param = format!("messages.[{noticed}].role");
        refused(&request(&messages), (Some(&param), None, &text(ids)));
    }
}

#[test]
fn tool_message_must_answer_a_call() {
    let message = "Invalid parameter: messages with role 'tool' must be a response to a preceeding \
        message with 'tool_calls'.";
    for (messages, at) in [
        (json!([user("hi"), tool("call_1")]), 1),
        (json!([tool("call_1"), user("hi")]), 0),
        (json!([calling(&[call("a")]), tool("a"), user("hi"), tool("a")]), 3),
    ] {
        let param = format!("messages.[{at}].role");
        refused(&request(&messages), (Some(&param), None, message));
    }
    let strange = json!([user("hi"), calling(&[call("call_1")]), tool("call_2")]);
    let message = "Invalid parameter: 'tool_call_id' of 'call_2' not found in 'tool_calls' of \
        previous message.";
    refused(&request(&strange), (Some("messages.[2].tool_call_id"), None, message));
    let twice = json!([calling(&[call("call_1")]), tool("call_1"), tool("call_1")]);
    let message = "Invalid parameter: Duplicate value for 'tool_call_id' of 'call_1', in \
        messages[1] and messages[2].";
    refused(&request(&twice), (Some("messages.[2].tool_call_id"), None, message));
    let nameless = json!([calling(&[call("call_1")]), {"role": "tool", "content": "done"}]);
    let message = "Missing required parameter: 'messages[1].tool_call_id'.";
    let code = Some("missing_required_parameter");
    refused(&request(&nameless), (Some("messages[1].tool_call_id"), code, message));
}

#[test]
fn duplicate_call_in_one_message_is_refused() {
    let twice = calling(&[call("call_1"), call("call_1")]);
    let message = "Invalid parameter: Duplicate value for 'tool_call_id' of 'call_1', in \
        'tool_calls' of messages[0].";
    let body = request(&json!([twice, tool("call_1")]));
    refused(&body, (Some("messages.[0].tool_calls"), None, message));
}

#[test]
fn malformed_call_is_refused() {
    let judged = |call: Value| request(&json!([calling(&[call]), tool("call_1")]));
    let message = "Invalid 'messages[0].tool_calls': empty array. Expected an array with minimum \
        length 1, but got an empty array instead.";
    let none = request(&json!([calling(&[]), user("hi")]));
    refused(&none, (Some("messages[0].tool_calls"), Some("empty_array"), message));

    let long = judged(call(&"x".repeat(41)));
    let message = "Invalid 'messages[0].tool_calls[0].id': string too long. Expected a string with \
        maximum length 40, but got a string with length 41 instead.";
    let param = "messages[0].tool_calls[0].id";
    refused(&long, (Some(param), Some("string_above_max_length"), message));

    let empty = judged(call(""));
    let message = "Invalid 'messages[0].tool_calls[0].id': empty string. Expected a string with \
        minimum length 1, but got an empty string instead.";
    refused(&empty, (Some(param), Some("empty_string"), message));

    let mut dotted = call("call_1");
    dotted["function"]["name"] = json!("a.b");
    let param = "messages[0].tool_calls[0].function.name";
    let message = "Invalid 'messages[0].tool_calls[0].function.name': string does not match \
        pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.";
    refused(&judged(dotted), (Some(param), INVALID, message));

    let mut parsed = call("call_1");
    parsed["function"]["arguments"] = json!({});
    let param = "messages[0].tool_calls[0].function.arguments";
    let message = "Invalid type for 'messages[0].tool_calls[0].function.arguments': expected a \
        string, but got an object instead.";
    refused(&judged(parsed), (Some(param), Some("invalid_type"), message));
}

#[test]
fn reasoning_is_required_for_calls_of_current_turn() {
    let message = "The `reasoning_content` in the thinking mode must be passed back to the API.";
    let expected = (None, Some("invalid_request_error"), message);
    let thinking = |messages: Value| with(request(&messages), "model", json!("fake-model"));
    let forgotten = calling(&[call("call_1")]);
    let kept = with(forgotten.clone(), "reasoning_content", json!("I call it."));
    let blank = with(forgotten.clone(), "reasoning_content", json!(""));

    accepted(&thinking(json!([user("hi"), kept, tool("call_1")])));
    accepted(&thinking(json!([user("hi"), forgotten, tool("call_1"), user("bye")])));
    accepted(&request(&json!([user("hi"), forgotten, tool("call_1")])));
    let effortless = thinking(json!([user("hi"), forgotten, tool("call_1")]));
    accepted(&with(effortless, "reasoning_effort", json!("none")));

    refused(&thinking(json!([user("hi"), forgotten, tool("call_1")])), expected);
    refused(&thinking(json!([user("hi"), blank, tool("call_1")])), expected);
    let earlier_step = json!([user("hi"), forgotten, tool("call_1"), kept, tool("call_1")]);
    refused(&thinking(earlier_step), expected);
}

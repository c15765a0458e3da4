//! The faults that items do not show.

use serde_json::{Value, json};

use super::super::faults::find_faults;
use super::request;
use crate::json::Object;

/// The names of the faults of these messages.
fn faults(messages: &Value) -> Vec<&'static str> {
    let text = request(&json!({"messages": messages})).to_string();
    find_faults(&Object::parse_str(&text).unwrap()).iter().map(|fault| fault.name).collect()
}

fn call(id: &str) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}]})
}

fn output(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "1"})
}

#[test]
fn valid_history_has_no_faults() {
    let user = json!({"role": "user", "content": ""});
    let history = json!([user, call("call_1"), output("call_1"), call("call_2"), output("call_2"),
        {"role": "assistant", "content": null, "refusal": "No."}, user]);
    assert_eq!(faults(&history), [""; 0]);
}

#[test]
fn output_must_follow_its_call() {
    let user = json!({"role": "user", "content": "Hi"});
    assert_eq!(faults(&json!([call("call_1"), user, output("call_1")])), ["misplaced_output"]);
    // The check of items finds these.
    assert_eq!(faults(&json!([output("call_1"), user])), [""; 0]);
}

#[test]
fn answer_must_have_content() {
    for message in [
        json!({"role": "assistant"}),
        json!({"role": "assistant", "content": null}),
        json!({"role": "assistant", "content": []}),
    ] {
        assert_eq!(faults(&json!([message])), ["empty_message"]);
    }
    let empty = json!([{"role": "assistant", "content": "Hi", "tool_calls": []}]);
    assert_eq!(faults(&empty), ["empty_tool_calls"]);
}

#[test]
fn long_call_id_is_a_fault() {
    let id = "x".repeat(41);
    assert_eq!(faults(&json!([call(&id), output(&id)])), ["long_call_id"]);
}

#[test]
fn sealed_reasoning_is_for_the_gateway() {
    let detail = json!({"type": "reasoning.encrypted", "data": "gAAA", "format": "antiphon-v1"});
    let message = json!({"role": "assistant", "content": "Hi", "reasoning_details": [detail]});
    assert_eq!(faults(&json!([message])), ["foreign_reasoning"]);
}

//! The deprecated `function_call`, which has no id.

use super::*;

fn old_call(name: &str) -> Value {
    json!({"role": "assistant", "content": null,
        "function_call": {"name": name, "arguments": "{}"}})
}

fn old_output(name: &str, content: &str) -> Value {
    json!({"role": "function", "name": name, "content": content})
}

#[test]
fn function_message_matches_call_by_name() {
    let messages = json!([{"role": "user", "content": "hi"}, old_call("f"), old_output("f", "1")]);
    let items = items(&messages);
    let call_id = items[1]["call_id"].as_str().unwrap();
    assert_eq!(items[1], function_call(call_id));
    let output = json!({"type": "function_call_output", "call_id": call_id, "output": "1"});
    assert_eq!(items[2], output);
}

#[test]
fn each_function_call_gets_unique_id() {
    let messages =
        json!([old_call("f"), old_output("f", "1"), old_call("f"), old_output("f", "2")]);
    let items = items(&messages);
    assert_ne!(items[0]["call_id"], items[2]["call_id"]);
    assert_eq!(items[2]["call_id"], items[3]["call_id"]);
}

#[test]
fn function_message_without_call_is_rejected() {
    let messages = json!([old_call("f"), old_output("g", "1")]).to_string();
    let error = parse_items(messages.as_bytes(), None).unwrap_err();
    assert!(error.to_string().starts_with("messages[1].name: "), "{error}");
}

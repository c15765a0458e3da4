//! The older form of calls, without ids.

use super::*;

fn old_call(name: &str) -> Value {
    json!({"role": "assistant", "content": null,
        "function_call": {"name": name, "arguments": "{}"}})
}

fn old_output(name: &str, content: &str) -> Value {
    json!({"role": "function", "name": name, "content": content})
}

#[test]
fn a_function_message_answers_the_call_of_its_name() {
    let messages = json!([{"role": "user", "content": "hi"}, old_call("f"), old_output("f", "1")]);
    let items = items(&messages);
    let call_id = items[1]["call_id"].as_str().unwrap();
    assert_eq!(items[1], function_call(call_id));
    let output = json!({"type": "function_call_output", "call_id": call_id, "output": "1"});
    assert_eq!(items[2], output);
}

#[test]
fn every_call_gets_an_id_of_its_own() {
    let messages =
        json!([old_call("f"), old_output("f", "1"), old_call("f"), old_output("f", "2")]);
    let items = items(&messages);
    assert_ne!(items[0]["call_id"], items[2]["call_id"]);
    assert_eq!(items[2]["call_id"], items[3]["call_id"]);
}

#[test]
fn a_function_message_that_answers_nothing_is_told() {
    let messages = json!([old_call("f"), old_output("g", "1")]).to_string();
    let error = items_of(messages.as_bytes(), None).unwrap_err();
    assert!(error.to_string().starts_with("messages[1].name: "), "{error}");
}

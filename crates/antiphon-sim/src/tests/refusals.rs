//! Rejected requests and their error texts.

use serde_json::{Value, json};

use super::{SimError, answer, try_ask};

fn sentence(body: &str) -> String {
    match answer(body.as_bytes()) {
        Ok(_) => panic!("{body} was answered"),
        Err(refused) => refused.to_string(),
    }
}

fn refused_param(request: Value) -> String {
    match try_ask(request) {
        Err(SimError::InvalidParameter { param, .. }) => param,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("answered"),
    }
}

#[test]
fn body_other_than_an_object_is_refused() {
    for body in ["", "nonsense", "[]", "\"hi\"", "{\"model\":"] {
        assert_eq!(sentence(body), "The body of the request is not a JSON object.", "{body}");
    }
}

#[test]
fn model_and_input_are_required() {
    assert_eq!(sentence(r#"{"input":"hi"}"#), "Missing required parameter: 'model'.");
    assert_eq!(sentence(r#"{"model":"sim"}"#), "Missing required parameter: 'input'.");
    assert_eq!(sentence(r#"{"model":"sim","input":null}"#), "Missing required parameter: 'input'.");
}

#[test]
fn field_of_a_wrong_type_is_named() {
    for (param, value) in [
        ("input", json!(5)),
        ("include", json!("all")),
        ("instructions", json!(["a"])),
        ("max_output_tokens", json!("many")),
        ("max_output_tokens", json!(-1)),
        ("parallel_tool_calls", json!("yes")),
        ("text", json!("plain")),
        ("tool_choice", json!(true)),
        ("tools", json!({})),
    ] {
        let mut request = json!({ "input": "hi" });
        request[param] = value;
        assert_eq!(refused_param(request), param);
    }
    let format = json!({ "format": { "type": "json_schema" } });
    assert_eq!(refused_param(json!({ "input": "hi", "text": format })), "text.format");
}

#[test]
fn invalid_item_is_named_by_its_index() {
    for item in [
        json!("hi"),
        json!({}),
        json!({ "type": "message" }),
        json!({ "role": "user", "content": 5 }),
    ] {
        let input = [json!({ "role": "user", "content": "hi" }), item];
        assert_eq!(refused_param(json!({ "input": input })), "input[1]");
    }
}

#[test]
fn invalid_tool_is_named_by_its_index() {
    for tool in [
        json!("echo"),
        json!({ "name": "echo" }),
        json!({ "type": "function" }),
        json!({ "type": "function", "name": "echo", "parameters": "none" }),
    ] {
        assert_eq!(refused_param(json!({ "input": "hi", "tools": [tool] })), "tools[0]");
    }
}

#[test]
fn references_to_stored_state_are_refused() {
    assert_eq!(
        sentence(r#"{"model":"sim","input":"hi","previous_response_id":"resp_1"}"#),
        "Previous response with id 'resp_1' not found: this model stores nothing."
    );
    assert_eq!(
        sentence(r#"{"model":"sim","input":"hi","conversation":{"id":"conv_1"}}"#),
        "Conversation with id 'conv_1' not found: this model stores nothing."
    );
    assert_eq!(
        sentence(r#"{"model":"sim","input":[{"type":"item_reference","id":"msg_1"}]}"#),
        "Item with id 'msg_1' not found: this model stores nothing."
    );
}

#[test]
fn null_fields_are_accepted() {
    let nulls = [
        "conversation",
        "include",
        "instructions",
        "max_output_tokens",
        "parallel_tool_calls",
        "previous_response_id",
        "text",
        "tool_choice",
        "tools",
    ];
    let mut request =
        json!({ "input": [{ "role": "user", "content": "hi", "status": null, "id": null }] });
    for field in nulls {
        request[field] = Value::Null;
    }
    assert_eq!(try_ask(request).unwrap().text(), "Noted: hi.");
}

//! `antiphon check` says of a broken history what a strict provider answers to it.

use serde_json::{Value, json};

use crate::mock::{ask, mock};
use crate::world::{Serving, World};

fn provider() -> Serving {
    mock(&[]).ready()
}

fn user() -> Value {
    json!({"role": "user", "content": "Hello"})
}

fn message(id: &str) -> Value {
    let content = json!([{"type": "output_text", "text": "Yes.", "annotations": []}]);
    json!({"type": "message", "id": id, "role": "assistant", "content": content})
}

fn call(kind: &str, call_id: &str) -> Value {
    json!({"type": kind, "call_id": call_id, "name": "f", "arguments": "{}", "input": "x"})
}

fn output(kind: &str, call_id: &str) -> Value {
    json!({"type": kind, "call_id": call_id, "output": "ok"})
}

/// The words, the code and the parameter of the provider's refusal.
fn refusal(provider: &Serving, input: &Value) -> Value {
    let (_, body) = ask(provider, "POST", "/v1/responses", &json!({"model": "m", "input": input}));
    words(&body["error"])
}

/// The same of the first fault that `check` finds.
fn first_fault(input: &Value) -> Value {
    let ended = World::antiphon(&["check", "--report", "json"]).input(&input.to_string()).ends();
    let line = ended.stdout.lines().next().unwrap_or_else(|| panic!("no fault in {input}"));
    words(&serde_json::from_str(line).unwrap())
}

fn words(error: &Value) -> Value {
    json!({"message": error["message"], "code": error["code"], "param": error["param"]})
}

fn assert_same_words(provider: &Serving, inputs: &[Value]) {
    for input in inputs {
        assert_eq!(first_fault(input), refusal(provider, input), "{input}");
    }
}

#[test]
fn duplicate_has_the_error_text_of_the_provider() {
    let provider = provider();
    let answered = [call("function_call", "call_1"), output("function_call_output", "call_1")];
    let [call_1, output_1] = &answered;
    assert_same_words(
        &provider,
        &[
            json!([user(), message("msg_1"), message("msg_1"), user()]),
            json!([user(), call_1, output_1, call_1, output_1]),
            json!([user(), call_1, output_1, output_1]),
            json!([
                user(),
                call("custom_tool_call", "call_1"),
                output("custom_tool_call_output", "call_1"),
                output("custom_tool_call_output", "call_1")
            ]),
        ],
    );
    let twice = first_fault(&json!([user(), call_1, output_1, output_1]));
    let message = "Duplicate function call output found with call_id call_1. Remove duplicate \
                   items from your input and try again.";
    assert_eq!(twice["message"], message);
}

#[test]
fn lone_call_or_output_has_the_error_text_of_the_provider() {
    let provider = provider();
    let kinds = ["function_call", "custom_tool_call", "shell_call", "apply_patch_call"];
    for kind in kinds {
        let output = output(&format!("{kind}_output"), "call_1");
        assert_same_words(
            &provider,
            &[json!([user(), call(kind, "call_1"), user()]), json!([user(), output])],
        );
    }
}

#[test]
fn lone_reasoning_has_the_providers_words() {
    let provider = provider();
    let tools = json!([{"type": "function", "name": "echo", "parameters": {"type": "object"}}]);
    let include = ["reasoning.encrypted_content"];
    let asked = json!({"model": "m", "input": "Echo hello", "tools": tools, "include": include});
    let (_, response) = ask(&provider, "POST", "/v1/responses", &asked);
    let output = response["output"].as_array().unwrap();
    let reasoning = output.iter().find(|item| item["type"] == "reasoning").unwrap();
    assert_same_words(&provider, &[json!([user(), reasoning, user()]), json!([user(), reasoning])]);
}

#[test]
fn malformed_id_has_the_error_text_of_the_provider() {
    let provider = provider();
    let with = |kind: &str, field: &str, value: Value| {
        let mut call = call(kind, "call_1");
        call[field] = value;
        json!([user(), call])
    };
    let mut nameless = call("custom_tool_call", "call_1");
    nameless.as_object_mut().unwrap().remove("call_id");
    assert_same_words(
        &provider,
        &[
            json!([user(), message("item_1"), user()]),
            json!([user(), message("msg_1 2"), user()]),
            json!([user(), message(&format!("msg_{}", "x".repeat(61))), user()]),
            with("function_call", "call_id", json!("")),
            with("function_call", "call_id", json!("x".repeat(65))),
            json!([user(), nameless]),
            with("web_search_call", "id", json!("foo_1")),
            with("web_search_call", "id", json!("")),
            with("function_call", "id", json!("")),
            json!([user(), {"type": "item_reference"}]),
        ],
    );
}

#[test]
fn second_output_for_a_stored_call_has_the_error_text_of_the_provider() {
    let provider = provider();
    let tools = json!([{"type": "function", "name": "echo", "parameters": {"type": "object"}}]);
    let asked = json!({"model": "m", "input": "Echo hello", "tools": tools});
    let (_, response) = ask(&provider, "POST", "/v1/responses", &asked);
    let made = response["output"].as_array().unwrap();
    let call = made.iter().find(|item| item["type"] == "function_call").unwrap();
    let output = output("function_call_output", call["call_id"].as_str().unwrap());
    let next = json!({
        "model": "m", "previous_response_id": response["id"], "input": [output, output],
    });
    let (status, refused) = ask(&provider, "POST", "/v1/responses", &next);
    assert_eq!((status, words(&refused["error"])), (400, first_fault(&next)));
}

#[test]
fn dangling_reference_has_the_error_text_of_the_provider() {
    let provider = provider();
    let input = json!([user(), {"type": "item_reference", "id": "msg_gone"}]);
    let args = ["repair", "--policy", "references=reject"];
    let ended = World::antiphon(&args).input(&input.to_string()).ends();
    let refused = refusal(&provider, &input);
    let sentence = refused["message"].as_str().unwrap();
    assert_eq!(ended.stderr, format!("error: 1 msg_gone unresolved_reference {sentence}\n"));
}

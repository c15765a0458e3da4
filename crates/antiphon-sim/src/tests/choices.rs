//! `tool_choice` and `parallel_tool_calls`.

use serde_json::{Value, json};

use super::{SimError, add, ask, echo, get_weather, try_ask};

fn names(text: &str, choice: Value) -> Vec<String> {
    let tools = [echo(), get_weather(), add()];
    let answered = ask(json!({ "input": text, "tools": tools, "tool_choice": choice }));
    answered.calls().into_iter().map(|(name, _)| name).collect()
}

fn allowed(mode: &str) -> Value {
    let tools = [
        json!({ "type": "function", "name": "add" }),
        json!({ "type": "function", "name": "echo" }),
    ];
    json!({ "type": "allowed_tools", "mode": mode, "tools": tools })
}

#[test]
fn choice_none_prevents_calls() {
    assert_eq!(names("echo hi", json!("none")), [""; 0]);
}

#[test]
fn auto_and_null_call_the_named_tools() {
    assert_eq!(names("echo hi", json!("auto")), ["echo"]);
    assert_eq!(names("echo hi", Value::Null), ["echo"]);
    assert_eq!(names("hi", json!("auto")), [""; 0]);
}

#[test]
fn required_calls_the_named_or_the_first_tool() {
    assert_eq!(names("add 1 and 2", json!("required")), ["add"]);
    assert_eq!(names("hi", json!("required")), ["echo"]);
}

#[test]
fn chosen_tool_is_called_once_and_alone() {
    let choice = json!({ "type": "function", "name": "add" });
    assert_eq!(names("echo hi", choice.clone()), ["add"]);
    assert_eq!(names("add 1, add 2", choice), ["add"]);
}

#[test]
fn allowed_tools_are_a_hard_constraint() {
    assert_eq!(names("get_weather in Rome, then echo hi", allowed("auto")), ["echo"]);
    assert_eq!(names("get_weather in Rome", allowed("auto")), [""; 0]);
    assert_eq!(names("get_weather in Rome", allowed("required")), ["add"]);
}

#[test]
fn only_the_first_call_is_made_without_parallel_calls() {
    let answered = ask(json!({
        "input": "echo hi and add 1 and 2",
        "tools": [echo(), add()],
        "parallel_tool_calls": false,
    }));
    assert_eq!(answered.calls(), [("echo".to_owned(), json!({ "message": "hi" }))]);
}

#[test]
fn required_call_is_made_after_outputs_too() {
    let answered = ask(json!({
        "tools": [echo()],
        "tool_choice": "required",
        "input": [
            { "role": "user", "content": "echo hi" },
            { "type": "function_call", "call_id": "c1", "name": "echo", "arguments": "{}" },
            { "type": "function_call_output", "call_id": "c1", "output": "hi" },
        ],
    }));
    assert_eq!(answered.calls(), [("echo".to_owned(), json!({ "message": "hi" }))]);
}

#[test]
fn choice_of_an_unknown_tool_is_refused() {
    let refused = |choice: Value, tools: Value| {
        try_ask(json!({ "input": "hi", "tools": tools, "tool_choice": choice })).err()
    };
    let unknown = json!({ "type": "function", "name": "nope" });
    assert_eq!(refused(unknown, json!([echo()])), Some(SimError::UnknownTool("nope".to_owned())));
    let hosted = json!([{ "type": "web_search" }]);
    assert_eq!(refused(json!("required"), hosted), Some(SimError::NothingToCall));
    assert!(matches!(
        refused(json!("sometimes"), json!([echo()])),
        Some(SimError::InvalidParameter { param, .. }) if param == "tool_choice"
    ));
}

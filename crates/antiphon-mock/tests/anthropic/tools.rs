//! The tools and `tool_choice`.

use serde_json::{Value, json};

use crate::request::{accepted, hello, refused, with, without};

fn tools(tool: &Value) -> Value {
    with(hello(), "tools", json!([tool]))
}

#[test]
fn tool_needs_a_name_and_an_object_schema() {
    let schema = json!({"type": "object"});
    accepted(&tools(&json!({"type": "custom", "name": "echo", "input_schema": schema})));
    accepted(&tools(&json!({"type": "web_search_20250305", "name": "web_search", "max_uses": 1})));
    for (tool, message) in [
        (json!({"input_schema": schema}), "tools.0.custom.name: Field required"),
        (json!({"name": "echo"}), "tools.0.custom.input_schema: Field required"),
        (
            json!({"name": "echo", "input_schema": {}}),
            "tools.0.custom.input_schema.type: Field required",
        ),
        (
            json!({"name": "echo", "input_schema": {"type": "string"}}),
            "tools.0.custom.input_schema.type: Input should be 'object'",
        ),
        (
            json!({"name": "a.b", "input_schema": schema}),
            "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
        ),
        (
            json!({"name": "echo", "input_schema": schema, "parameters": schema}),
            "tools.0.custom.parameters: Extra inputs are not permitted",
        ),
        (
            json!({"type": "function", "name": "echo"}),
            "tools.0: Input tag 'function' found using 'type' does not match any of the expected \
            tags: 'custom'",
        ),
    ] {
        refused(&tools(&tool), message);
    }
}

#[test]
fn duplicate_tool_name_is_refused() {
    let tool = json!({"name": "echo", "input_schema": {"type": "object"}});
    let twice = with(hello(), "tools", json!([tool, tool]));
    refused(&twice, "tools: Tool names must be unique.");
}

#[test]
fn tool_choice_names_a_mode_or_a_tool() {
    let choice = |choice: Value| with(hello(), "tool_choice", choice);
    for kind in ["auto", "any"] {
        accepted(&choice(json!({"type": kind, "disable_parallel_tool_use": true})));
    }
    accepted(&choice(json!({"type": "none"})));
    accepted(&choice(json!({"type": "tool", "name": "echo"})));

    let message = "tool_choice: Input should be a valid dictionary";
    refused(&choice(json!("auto")), message);
    let message = "tool_choice: Input tag 'required' found using 'type' does not match any of the \
        expected tags: 'any', 'auto', 'none', 'tool'";
    refused(&choice(json!({"type": "required"})), message);
    let message = "tool_choice.none.disable_parallel_tool_use: Extra inputs are not permitted";
    refused(&choice(json!({"type": "none", "disable_parallel_tool_use": true})), message);
    let message = "Tool 'other' not found in provided tools";
    refused(&choice(json!({"type": "tool", "name": "other"})), message);
    let message = "tool_choice: tool_choice may only be specified while providing tools.";
    refused(&without(choice(json!({"type": "auto"})), "tools"), message);
}

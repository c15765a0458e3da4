//! The tools and `tool_choice`.

use serde_json::{Value, json};

use crate::request::{accepted, hello, refused, with};

const MISSING: Option<&str> = Some("missing_required_parameter");
const INVALID: Option<&str> = Some("invalid_value");

fn tools(tool: &Value) -> Value {
    with(hello(), "tools", json!([tool]))
}

#[test]
fn empty_tools_are_refused() {
    let message = "Invalid 'tools': empty array. Expected an array with minimum length 1, but got \
        an empty array instead.";
    let none = with(hello(), "tools", json!([]));
    refused(&none, (Some("tools"), Some("empty_array"), message));
}

#[test]
fn tool_definition_needs_its_own_object() {
    let flat = json!({"type": "function", "name": "echo", "parameters": {"type": "object"}});
    let message = "Missing required parameter: 'tools[0].function'.";
    refused(&tools(&flat), (Some("tools[0].function"), MISSING, message));

    let both = json!({"type": "function", "function": {"name": "echo"}, "strict": true});
    let message = "Unknown parameter: 'tools[0].strict'.";
    refused(&tools(&both), (Some("tools[0].strict"), Some("unknown_parameter"), message));

    let hosted = json!({"type": "web_search"});
    let message = "Invalid value: 'web_search'. Supported values are: 'function' and 'custom'.";
    refused(&tools(&hosted), (Some("tools[0].type"), INVALID, message));
}

#[test]
fn tool_name_characters_are_restricted() {
    for name in ["a.b", "", "größe", "a b"] {
        let tool = json!({"type": "function", "function": {"name": name}});
        let message = "Invalid 'tools[0].function.name': string does not match pattern. Expected a \
            string that matches the pattern '^[a-zA-Z0-9_-]+$'.";
        refused(&tools(&tool), (Some("tools[0].function.name"), INVALID, message));
    }
    let long = json!({"type": "function", "function": {"name": "x".repeat(65)}});
    let message = "Invalid 'tools[0].function.name': string too long. Expected a string with \
        maximum length 64, but got a string with length 65 instead.";
    let expected = (Some("tools[0].function.name"), Some("string_above_max_length"), message);
    refused(&tools(&long), expected);
}

#[test]
fn grammar_needs_its_own_object() {
    let custom = |format: Value| {
        tools(&json!({"type": "custom", "custom": {"name": "grep", "format": format}}))
    };
    let grammar = json!({"syntax": "lark", "definition": "start: /a/"});
    accepted(&custom(json!({"type": "text"})));
    accepted(&custom(json!({"type": "grammar", "grammar": grammar})));
    let flat = json!({"type": "grammar", "syntax": "lark", "definition": "start: /a/"});
    let param = "tools[0].custom.format.grammar";
    let message = "Missing required parameter: 'tools[0].custom.format.grammar'.";
    refused(&custom(flat), (Some(param), MISSING, message));
}

#[test]
fn tool_choice_is_a_mode_or_a_known_tool() {
    let choice = |choice: Value| with(hello(), "tool_choice", choice);
    for mode in ["none", "auto", "required"] {
        accepted(&choice(json!(mode)));
    }
    accepted(&choice(json!({"type": "function", "function": {"name": "echo"}})));
    accepted(&choice(json!({"type": "custom", "custom": {"name": "grep"}})));
    let allowed = json!({"mode": "auto", "tools": [
        {"type": "function", "function": {"name": "echo"}},
    ]});
    accepted(&choice(json!({"type": "allowed_tools", "allowed_tools": allowed})));

    let message = "Invalid value: 'any'. Supported values are: 'none', 'auto', and 'required'.";
    refused(&choice(json!("any")), (Some("tool_choice"), INVALID, message));
    let flat = choice(json!({"type": "function", "name": "echo"}));
    let message = "Missing required parameter: 'tool_choice.function'.";
    refused(&flat, (Some("tool_choice.function"), MISSING, message));
    let other = choice(json!({"type": "function", "function": {"name": "other"}}));
    let message = "Tool choice 'other' not found in 'tools' parameter.";
    refused(&other, (Some("tool_choice"), None, message));
}

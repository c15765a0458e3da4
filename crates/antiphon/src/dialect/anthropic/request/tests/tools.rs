//! Tools, and which of them may be called.

use serde_json::{Value, json};

use super::{refused, send, try_send};
use crate::item::given::{call, output, user};

fn sent(fields: &Value) -> Value {
    let sent = send(fields, &[user("hi")]);
    assert_eq!(sent.reported, [""; 0]);
    sent.body
}

fn function(name: &str) -> Value {
    json!({"type": "function", "name": name, "parameters": {"type": "object"}})
}

fn plain(name: &str) -> Value {
    json!({"name": name, "input_schema": {"type": "object"}})
}

#[test]
fn a_function_is_a_tool_with_a_schema() {
    let schema =
        json!({"$schema": "x", "type": "object", "properties": {"city": {"type": "string"}}});
    let tool = json!({"type": "function", "name": "f", "description": "d", "parameters": schema, "strict": null});
    let expected = json!([{"name": "f", "description": "d", "input_schema": schema}]);
    assert_eq!(sent(&json!({"tools": [tool]}))["tools"], expected);
}

#[test]
fn a_function_without_parameters_takes_an_empty_object() {
    for tool in [
        json!({"type": "function", "name": "f"}),
        json!({"type": "function", "name": "f", "parameters": null}),
    ] {
        let schema = json!({"type": "object", "properties": {}});
        let expected = json!([{"name": "f", "input_schema": schema}]);
        assert_eq!(sent(&json!({"tools": [tool]}))["tools"], expected);
    }
}

#[test]
fn a_schema_says_that_it_is_an_objects() {
    let tool = json!({"type": "function", "name": "f", "parameters": {"properties": {}}});
    let schema = &sent(&json!({"tools": [tool]}))["tools"][0]["input_schema"];
    assert_eq!(schema, &json!({"type": "object", "properties": {}}));
}

#[test]
fn a_strict_function_stays_strict() {
    let mut tool = function("f");
    tool["strict"] = json!(true);
    assert_eq!(sent(&json!({"tools": [tool]}))["tools"][0]["strict"], json!(true));
}

#[test]
fn a_custom_tool_takes_its_text_in_a_field() {
    let tool =
        json!({"type": "custom", "name": "sql", "description": "d", "format": {"type": "text"}});
    let schema = json!({
        "type": "object",
        "properties": {"input": {"type": "string"}},
        "required": ["input"],
        "additionalProperties": false,
    });
    let expected = json!([{"name": "sql", "description": "d", "input_schema": schema}]);
    assert_eq!(sent(&json!({"tools": [tool]}))["tools"], expected);
}

#[test]
fn the_grammar_of_a_custom_tool_is_left_out() {
    let grammar = json!({"type": "grammar", "syntax": "lark", "definition": "start: \"a\""});
    let tool = json!({"type": "custom", "name": "sql", "format": grammar});
    let sent = send(&json!({"tools": [function("f"), tool]}), &[user("hi")]);
    assert_eq!(sent.reported, ["tools[1].format"]);
}

#[test]
fn a_hosted_tool_is_refused() {
    let tools = json!([function("f"), function("g"), {"type": "web_search"}]);
    let (place, message) = refused(&json!({"tools": tools}), &[user("hi")]);
    assert_eq!(place, "tools[2].type");
    assert!(message.contains("web_search"), "{message}");
}

#[test]
fn every_choice_has_its_counterpart() {
    for (choice, expected) in [
        (json!("auto"), json!({"type": "auto"})),
        (json!("none"), json!({"type": "none"})),
        (json!("required"), json!({"type": "any"})),
        (json!({"type": "function", "name": "f"}), json!({"type": "tool", "name": "f"})),
        (json!({"type": "custom", "name": "f"}), json!({"type": "tool", "name": "f"})),
    ] {
        let fields = json!({"tools": [function("f")], "tool_choice": choice});
        assert_eq!(sent(&fields)["tool_choice"], expected, "{choice}");
    }
}

#[test]
fn a_choice_that_anthropic_does_not_have_is_refused() {
    for choice in [json!("never"), json!({"type": "file_search"}), json!({"type": "function"})] {
        let fields = json!({"tools": [function("f")], "tool_choice": choice});
        assert_eq!(refused(&fields, &[user("hi")]).0, "tool_choice", "{choice}");
    }
}

#[test]
fn calls_one_at_a_time_are_a_matter_of_the_choice() {
    for (choice, expected) in [
        (json!(null), json!({"type": "auto", "disable_parallel_tool_use": true})),
        (json!("required"), json!({"type": "any", "disable_parallel_tool_use": true})),
        (json!("none"), json!({"type": "none"})),
    ] {
        let fields =
            json!({"tools": [function("f")], "tool_choice": choice, "parallel_tool_calls": false});
        assert_eq!(sent(&fields)["tool_choice"], expected);
    }
}

#[test]
fn only_allowed_tools_are_sent() {
    let allowed = json!([{"type": "function", "name": "g"}, {"type": "custom", "name": "sql"}]);
    let sql = json!({"type": "custom", "name": "sql"});
    let tools = json!([function("f"), function("g"), sql, {"type": "web_search"}]);
    for (mode, expected) in [("auto", "auto"), ("required", "any")] {
        let choice = json!({"type": "allowed_tools", "mode": mode, "tools": allowed});
        let body = sent(&json!({"tools": tools, "tool_choice": choice}));
        let names: Vec<&Value> =
            body["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["g", "sql"]);
        assert_eq!(body["tools"][0], plain("g"));
        assert_eq!(body["tool_choice"], json!({"type": expected}));
    }
}

#[test]
fn without_tools_there_is_no_choice() {
    for fields in [
        json!({"tool_choice": "auto", "parallel_tool_calls": false}),
        json!({"tools": [], "tool_choice": "none"}),
        json!({"tools": [function("f")], "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": []}}),
    ] {
        let body = sent(&fields);
        assert_eq!((body.get("tools"), body.get("tool_choice")), (None, None), "{fields}");
    }
}

#[test]
fn a_choice_of_what_is_not_there_is_refused() {
    let allowed =
        |mode: &str, tools: Value| json!({"type": "allowed_tools", "mode": mode, "tools": tools});
    let named = |kind: &str, name: &str| json!({"type": kind, "name": name});
    for (tools, choice) in [
        (json!([]), json!("required")),
        (json!([function("f")]), named("function", "g")),
        (json!([function("f")]), allowed("required", json!([]))),
        (json!([function("f")]), allowed("auto", json!([named("function", "g")]))),
    ] {
        let (place, _) = refused(&json!({"tools": tools, "tool_choice": choice}), &[user("hi")]);
        assert_eq!(place, "tool_choice", "{choice}");
    }
}

#[test]
fn a_tool_without_a_name_is_refused_in_the_apis_own_words() {
    for tool in [json!({"type": "function"}), json!({"type": "custom", "name": ""})] {
        let error = try_send(&json!({"tools": [tool]}), &[user("hi")]).map(|_| ()).unwrap_err();
        assert_eq!(error.message, "Missing required parameter: 'tools[0].name'.");
    }
}

#[test]
fn a_history_with_calls_defines_their_tools_and_lets_none_be_called() {
    let items = [
        user("hi"),
        call("call_1", "{}"),
        output("call_1", "1"),
        call("call_2", "{}"),
        output("call_2", "2"),
    ];
    let body = send(&json!({"tool_choice": "auto"}), &items).body;
    let schema = json!({"type": "object", "properties": {}});
    assert_eq!(body["tools"], json!([{"name": "get_weather", "input_schema": schema}]));
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
}

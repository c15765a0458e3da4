//! Tools, and the choice among them.

use serde_json::{Value, json};

use super::{given, refused, send, try_send};
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
fn function_becomes_tool_with_schema() {
    let schema =
        json!({"$schema": "x", "type": "object", "properties": {"city": {"type": "string"}}});
    let tool = json!({"type": "function", "name": "f", "description": "d", "parameters": schema,
        "strict": null});
    let expected = json!([{"name": "f", "description": "d", "input_schema": schema}]);
    assert_eq!(sent(&json!({"tools": [tool]}))["tools"], expected);
}

#[test]
fn function_without_parameters_takes_empty_object() {
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
fn schema_gets_object_type() {
    let tool = json!({"type": "function", "name": "f", "parameters": {"properties": {}}});
    let schema = &sent(&json!({"tools": [tool]}))["tools"][0]["input_schema"];
    assert_eq!(schema, &json!({"type": "object", "properties": {}}));
}

#[test]
fn mark_of_a_function_is_kept() {
    let mark = json!({"type": "ephemeral"});
    let tool = json!({"type": "function", "name": "f", "strict": true, "cache_control": mark});
    let sent = sent(&json!({"tools": [tool]}));
    assert_eq!(sent["tools"][0]["cache_control"], mark);
    assert_eq!(sent["tools"][0]["strict"], json!(true));
}

#[test]
fn strict_function_stays_strict() {
    let mut tool = function("f");
    tool["strict"] = json!(true);
    assert_eq!(sent(&json!({"tools": [tool]}))["tools"][0]["strict"], json!(true));
}

#[test]
fn custom_tool_takes_text_in_input_field() {
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
fn custom_tool_grammar_is_left_out() {
    let grammar = json!({"type": "grammar", "syntax": "lark", "definition": "start: \"a\""});
    let tool = json!({"type": "custom", "name": "sql", "format": grammar});
    let sent = send(&json!({"tools": [function("f"), tool]}), &[user("hi")]);
    assert_eq!(sent.reported, ["tools[1].format"]);
}

#[test]
fn hosted_tools_are_left_out() {
    for kind in ["web_search", "image_generation", "mcp", "tool_search"] {
        let tools = json!([function("f"), {"type": kind}]);
        let sent = send(&json!({"tools": tools}), &[user("hi")]);
        assert_eq!(sent.body["tools"], json!([plain("f")]), "{kind}");
        assert_eq!(sent.reported, ["tools[1]"], "{kind}");
    }
}

#[test]
fn tool_without_counterpart_is_rejected() {
    let tools = json!([function("f"), function("g"), {"type": "local_shell"}]);
    let (place, message) = refused(&json!({"tools": tools}), &[user("hi")]);
    assert_eq!(place, "tools[2].type");
    assert!(message.contains("local_shell"), "{message}");
}

#[test]
fn choice_of_left_out_tool_is_rejected() {
    let search = json!({"type": "web_search"});
    let allowed = json!({"type": "allowed_tools", "mode": "auto", "tools": [search]});
    for choice in [search, allowed] {
        let fields =
            json!({"tools": [function("f"), {"type": "web_search"}], "tool_choice": choice});
        let (place, message) = refused(&fields, &[user("hi")]);
        assert_eq!(place, "tool_choice");
        assert!(message.contains("the tool 'web_search'"), "{message}");
    }
    let only = json!({"tools": [{"type": "web_search"}], "tool_choice": "required"});
    assert_eq!(refused(&only, &[user("hi")]).0, "tool_choice");
}

#[test]
fn namespace_becomes_tools_with_flat_names() {
    let crm = json!({"type": "namespace", "name": "crm", "description": "Customers.",
        "tools": [function("find"), function("note")]});
    let choice = json!({"type": "function", "name": "note", "namespace": "crm"});
    let body = sent(&json!({"tools": [function("f"), crm], "tool_choice": choice}));
    let described = json!({"name": "crm__find", "description": "Customers.",
        "input_schema": {"type": "object"}});
    assert_eq!(body["tools"], json!([plain("f"), described, plain("crm__note")]));
    assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "crm__note"}));
}

#[test]
fn call_of_namespaced_tool_has_flat_name() {
    let call = json!({"type": "function_call", "call_id": "call_1", "namespace": "crm",
        "name": "find", "arguments": "{}"});
    let sent = send(&json!({}), &[user("hi"), given(&call), output("call_1", "1")]);
    assert_eq!(sent.messages()[1]["content"][0]["name"], "crm__find");
    assert_eq!(sent.body["tools"][0]["name"], "crm__find");
    assert_eq!(sent.reported, [""; 0]);
}

#[test]
fn every_tool_choice_has_counterpart() {
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
fn unsupported_tool_choice_is_rejected() {
    for choice in [json!("never"), json!({"type": "file_search"}), json!({"type": "function"})] {
        let fields = json!({"tools": [function("f")], "tool_choice": choice});
        assert_eq!(refused(&fields, &[user("hi")]).0, "tool_choice", "{choice}");
    }
}

#[test]
fn parallel_tool_calls_becomes_part_of_tool_choice() {
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
fn tool_choice_without_tools_is_not_sent() {
    for fields in [
        json!({"tool_choice": "auto", "parallel_tool_calls": false}),
        json!({"tools": [], "tool_choice": "none"}),
        json!({"tools": [function("f")],
            "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": []}}),
    ] {
        let body = sent(&fields);
        assert_eq!((body.get("tools"), body.get("tool_choice")), (None, None), "{fields}");
    }
}

#[test]
fn choice_of_undefined_tool_is_rejected() {
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
fn tool_without_name_gets_responses_api_error() {
    for tool in [json!({"type": "function"}), json!({"type": "custom", "name": ""})] {
        let error = try_send(&json!({"tools": [tool]}), &[user("hi")]).map(|_| ()).unwrap_err();
        assert_eq!(error.message, "Missing required parameter: 'tools[0].name'.");
    }
}

#[test]
fn called_tools_are_defined_but_not_callable() {
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

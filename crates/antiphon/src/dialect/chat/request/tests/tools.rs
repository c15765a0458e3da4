//! Tools.

use super::*;

fn function(name: &str) -> Value {
    json!({"type": "function", "name": name, "parameters": {"type": "object"}})
}

#[test]
fn function_is_nested_one_level_deeper() {
    let tool = json!({"type": "function", "name": "f", "description": "d",
        "parameters": {"type": "object", "$schema": "x"}, "strict": true});
    let expected = json!([{"type": "function", "function": {"name": "f", "description": "d",
        "parameters": {"type": "object", "$schema": "x"}, "strict": true}}]);
    assert_eq!(body(&json!({"model": "m", "tools": [tool]}))["tools"], expected);
}

#[test]
fn absent_and_null_function_fields_are_not_sent() {
    let tool = json!({"type": "function", "name": "f", "description": null, "parameters": null,
        "strict": null});
    let expected = json!([{"type": "function", "function": {"name": "f"}}]);
    assert_eq!(body(&json!({"model": "m", "tools": [tool]}))["tools"], expected);
}

#[test]
fn unknown_tool_fields_stay_outside_definition() {
    let tool = json!({"type": "function", "name": "f", "cache_control": {"type": "ephemeral"}});
    let expected = json!([{"type": "function", "function": {"name": "f"},
        "cache_control": {"type": "ephemeral"}}]);
    assert_eq!(body(&json!({"model": "m", "tools": [tool]}))["tools"], expected);
}

#[test]
fn parameters_keep_their_bytes() {
    let parameters = r#"{ "b": 1e2, "a": [1.0, 9007199254740993], "é": "\u00e9" }"#;
    let fields =
        format!(r#"{{"tools":[{{"parameters":{parameters},"name":"f","type":"function"}}]}}"#);
    let fields = Object::parse(fields.as_bytes()).unwrap();
    let request = Request { fields: &fields, items: &[], origin: &Origin::new(HERE) };
    let body = encode(request).unwrap().body;
    assert!(std::str::from_utf8(&body).unwrap().contains(parameters));
}

#[test]
fn custom_tool_keeps_its_type() {
    let tool = json!({"type": "custom", "name": "run", "description": "d",
        "format": {"type": "text"}});
    let expected = json!([{"type": "custom", "custom": {"name": "run", "description": "d"}}]);
    assert_eq!(body(&json!({"model": "m", "tools": [tool]}))["tools"], expected);
}

#[test]
fn grammar_is_nested_one_level_deeper() {
    let format = json!({"type": "grammar", "syntax": "lark", "definition": "start: \"a\""});
    let tool = json!({"type": "custom", "name": "run", "format": format});
    let expected = json!({"type": "grammar",
        "grammar": {"syntax": "lark", "definition": "start: \"a\""}});
    let body = body(&json!({"model": "m", "tools": [tool]}));
    assert_eq!(body["tools"][0]["custom"]["format"], expected);
}

#[test]
fn hosted_tools_are_left_out() {
    for kind in ["web_search", "file_search", "mcp", "code_interpreter", "tool_search"] {
        let fields = json!({"model": "m", "tools": [function("f"), {"type": kind}]});
        let (body, omitted) = encoded(&fields, &json!([]));
        assert_eq!(body["tools"].as_array().unwrap().len(), 1, "{kind}");
        assert_eq!(omitted, ["tools[1]"], "{kind}");
    }
}

#[test]
fn omission_of_hosted_tool_names_it() {
    let fields = json!({"model": "m", "tools": [{"type": "web_search"}]});
    let encoded = tried(&fields, &[]).unwrap();
    assert_eq!(
        encoded.omissions[0].message,
        "'tools[0]' is left out for Chat Completions: \
         it has no equivalent of the tool 'web_search'."
    );
}

#[test]
fn namespace_becomes_functions() {
    let crm = json!({"type": "namespace", "name": "crm", "description": "Customers.",
        "tools": [function("find"), {"type": "custom", "name": "query"}]});
    let expected = json!([
        {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}},
        {"type": "function", "function": {"name": "crm__find", "parameters": {"type": "object"},
            "description": "Customers."}},
        {"type": "custom", "custom": {"name": "crm__query"}},
    ]);
    assert_eq!(body(&json!({"model": "m", "tools": [function("f"), crm]}))["tools"], expected);
}

#[test]
fn call_of_namespaced_tool_has_flat_name() {
    let crm = json!({"type": "namespace", "name": "crm", "tools": [function("find")]});
    let mut call = call("call_1", "{}");
    call["namespace"] = json!("crm");
    call["name"] = json!("find");
    let mut found = output("call_1", "1");
    found["namespace"] = json!("crm");
    found["name"] = json!("find");
    let (body, omitted) =
        encoded(&json!({"model": "m", "tools": [crm]}), &json!([user("hi"), call, found]));
    assert_eq!(body["messages"][1]["tool_calls"][0]["function"]["name"], "crm__find");
    assert!(omitted.is_empty(), "{omitted:?}");
}

#[test]
fn tool_without_counterpart_is_rejected() {
    for kind in ["local_shell", "shell", "apply_patch", "computer", "x"] {
        let tools = json!([function("f"), function("g"), {"type": kind}]);
        assert_eq!(refused_field(&json!({"model": "m", "tools": tools})), "tools[2].type");
    }
}

#[test]
fn empty_tools_and_their_options_are_not_sent() {
    for tools in [json!([]), Value::Null] {
        let fields = json!({"model": "m", "tools": tools, "tool_choice": "none",
            "parallel_tool_calls": false});
        let body = body(&fields);
        for field in ["tools", "tool_choice", "parallel_tool_calls"] {
            assert_eq!(body.get(field), None, "{field}");
        }
    }
}

#[test]
fn parallel_calls_are_the_default() {
    let fields =
        |parallel| json!({"model": "m", "tools": [function("f")], "parallel_tool_calls": parallel});
    assert_eq!(body(&fields(true)).get("parallel_tool_calls"), None);
    assert_eq!(body(&fields(false))["parallel_tool_calls"], false);
}

#[test]
fn tools_of_wrong_type_are_rejected() {
    let within = json!([{"type": "namespace", "name": "n", "tools": [{"type": "x"}]}]);
    assert_eq!(refused_field(&json!({"model": "m", "tools": within})), "tools[0].tools[0].type");
    assert_eq!(refused_field(&json!({"model": "m", "tools": 7})), "tools");
    assert_eq!(refused_field(&json!({"model": "m", "tools": [7]})), "tools[0]");
}

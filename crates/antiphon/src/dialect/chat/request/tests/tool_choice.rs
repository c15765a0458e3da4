//! The choice among the tools.

use super::*;

fn fields(choice: &Value) -> Value {
    let function = |name| json!({"type": "function", "name": name});
    json!({"model": "m", "tool_choice": choice,
        "tools": [function("f"), function("g"), {"type": "custom", "name": "run"}]})
}

fn chosen(choice: &Value) -> Option<Value> {
    body(&fields(choice)).get("tool_choice").cloned()
}

fn allowed(mode: &str, tools: &Value) -> Value {
    json!({"type": "allowed_tools", "mode": mode, "tools": tools})
}

fn names(body: &Value) -> Vec<&str> {
    let tools = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    let name = |tool: &'_ Value| tool["type"].as_str().map(str::to_owned);
    tools.iter().map(|tool| tool[name(tool).unwrap()]["name"].as_str().unwrap()).collect()
}

#[test]
fn choice_auto_is_default_and_not_sent() {
    assert_eq!(chosen(&json!("auto")), None);
    assert_eq!(chosen(&Value::Null), None);
}

#[test]
fn choices_none_and_required_are_sent() {
    assert_eq!(chosen(&json!("none")), Some(json!("none")));
    assert_eq!(chosen(&json!("required")), Some(json!("required")));
}

#[test]
fn named_tool_is_nested_one_level_deeper() {
    let function = json!({"type": "function", "name": "f"});
    assert_eq!(chosen(&function), Some(json!({"type": "function", "function": {"name": "f"}})));
    let custom = json!({"type": "custom", "name": "run"});
    assert_eq!(chosen(&custom), Some(json!({"type": "custom", "custom": {"name": "run"}})));
}

#[test]
fn undefined_named_tool_is_rejected() {
    assert_eq!(refused_field(&fields(&json!({"type": "function", "name": "run"}))), "tool_choice");
    let toolless = json!({"model": "m", "tool_choice": {"type": "function", "name": "f"}});
    assert_eq!(refused_field(&toolless), "tool_choice");
}

#[test]
fn choice_required_without_tools_is_rejected() {
    assert_eq!(refused_field(&json!({"model": "m", "tool_choice": "required"})), "tool_choice");
}

#[test]
fn only_allowed_tools_are_sent() {
    let tools = json!([{"type": "custom", "name": "run"}, {"type": "function", "name": "f"}]);
    let body = body(&fields(&allowed("auto", &tools)));
    assert_eq!(names(&body), ["f", "run"]);
    assert_eq!(body.get("tool_choice"), None);
}

#[test]
fn allowed_tools_with_mode_none_forbids_calls() {
    let tools = json!([{"type": "function", "name": "f"}]);
    assert_eq!(body(&fields(&allowed("none", &tools)))["tool_choice"], "none");
}

#[test]
fn allowed_tools_with_mode_required_requires_call() {
    let tools = json!([{"type": "function", "name": "g"}]);
    let body = body(&fields(&allowed("required", &tools)));
    assert_eq!(names(&body), ["g"]);
    assert_eq!(body["tool_choice"], "required");
}

#[test]
fn empty_allowed_tools_sends_none() {
    let body = body(&fields(&allowed("auto", &json!([]))));
    assert_eq!((body.get("tools"), body.get("tool_choice")), (None, None));
    assert_eq!(refused_field(&fields(&allowed("required", &json!([])))), "tool_choice");
}

#[test]
fn undefined_allowed_tool_is_rejected() {
    let tools = json!([{"type": "function", "name": "f"}, {"type": "function", "name": "h"}]);
    assert_eq!(refused_field(&fields(&allowed("auto", &tools))), "tool_choice.tools[1]");
    let of_another_type = json!([{"type": "custom", "name": "f"}]);
    let place = refused_field(&fields(&allowed("auto", &of_another_type)));
    assert_eq!(place, "tool_choice.tools[0]");
}

#[test]
fn only_choice_of_hosted_tool_is_rejected() {
    let tools = json!([{"type": "web_search"}, {"type": "function", "name": "f"}]);
    let choice = |name: Value| {
        json!({"model": "m", "tools": tools,
            "tool_choice": allowed("auto", &json!([name]))})
    };
    assert_eq!(names(&body(&choice(json!({"type": "function", "name": "f"})))), ["f"]);
    assert_eq!(refused_field(&choice(json!({"type": "web_search"}))), "tool_choice.tools[0]");
    let search = json!({"model": "m", "tools": tools, "tool_choice": {"type": "web_search"}});
    let (place, message) = refused(&search, &json!([]));
    assert_eq!(place, "tool_choice.type");
    assert!(message.contains("the tool 'web_search'"), "{message}");
}

#[test]
fn choice_of_namespaced_tool_has_flat_name() {
    let crm = json!({"type": "namespace", "name": "crm",
        "tools": [{"type": "function", "name": "find"}]});
    for choice in [
        json!({"type": "function", "name": "find", "namespace": "crm"}),
        json!({"type": "function", "name": "find"}),
    ] {
        let body = body(&json!({"model": "m", "tools": [crm], "tool_choice": choice}));
        let expected = json!({"type": "function", "function": {"name": "crm__find"}});
        assert_eq!(body["tool_choice"], expected, "{choice}");
    }
}

#[test]
fn unknown_tool_choice_is_rejected() {
    assert_eq!(refused_field(&fields(&json!("any"))), "tool_choice");
    assert_eq!(refused_field(&fields(&json!({"type": "mcp"}))), "tool_choice.type");
    assert_eq!(refused_field(&fields(&allowed("perhaps", &json!([])))), "tool_choice.mode");
    assert_eq!(refused_field(&fields(&allowed("auto", &json!(7)))), "tool_choice.tools");
}

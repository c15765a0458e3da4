//! Functions, and the mode in which they are called.

use serde_json::{Value, json};

use super::{Chat, Responses, decode, decode_all, error};

fn declared(names: &[&str]) -> Value {
    let each = names.iter().map(|name| json!({"name": name}));
    json!([{"functionDeclarations": each.collect::<Vec<_>>()}])
}

/// The names of the sent functions, and the choice.
fn chosen(config: &Value) -> (Vec<String>, Value) {
    let config = json!({"functionCallingConfig": config});
    let fields = json!({"tools": declared(&["f", "g"]), "toolConfig": config});
    let sent = decode_all(&fields, Responses);
    let tools = sent["tools"].as_array().unwrap().iter();
    (
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect(),
        sent["tool_choice"].clone(),
    )
}

#[test]
fn declaration_becomes_a_function() {
    // Google's reference of `FunctionDeclaration`.
    let tools = json!([{"functionDeclarations": [
        {"name": "set_light", "description": "Sets the light.", "parameters": {"type": "OBJECT",
            "properties": {"brightness": {"type": "INTEGER"},
                "color": {"type": "STRING", "enum": ["warm", "cool"]}},
            "required": ["brightness"]}},
        {"name": "look", "parametersJsonSchema": {"type": "object", "properties": {}}},
        {"name": "stop"}
    ]}]);
    let expected = json!([
        {"type": "function", "name": "set_light", "description": "Sets the light.",
            "parameters": {"type": "object",
                "properties": {"brightness": {"type": "integer"},
                    "color": {"type": "string", "enum": ["warm", "cool"]}},
                "required": ["brightness"]}, "strict": false},
        {"type": "function", "name": "look",
            "parameters": {"type": "object", "properties": {}}, "strict": false},
        {"type": "function", "name": "stop",
            "parameters": {"type": "object", "properties": {}}, "strict": false}
    ]);
    assert_eq!(decode_all(&json!({"tools": tools}), Chat)["tools"], expected);
}

#[test]
fn hosted_tools_are_left_out() {
    let tools = json!([{"googleSearch": {}}, {"functionDeclarations": [{"name": "f"}],
        "codeExecution": {}}, {"urlContext": {}}]);
    let (sent, omissions) = decode(&json!({"tools": tools}), Responses);
    assert_eq!(sent["tools"].as_array().unwrap().len(), 1);
    assert_eq!(
        omissions,
        ["tools[0].googleSearch", "tools[1].codeExecution", "tools[2].urlContext"]
    );
}

#[test]
fn mode_becomes_the_choice() {
    for (mode, choice) in [
        ("AUTO", Value::Null),
        ("VALIDATED", Value::Null),
        ("ANY", json!("required")),
        ("NONE", json!("none")),
    ] {
        assert_eq!(chosen(&json!({"mode": mode})), (vec!["f".into(), "g".into()], choice));
    }
    let allowed = json!({"mode": "ANY", "allowedFunctionNames": ["g"]});
    assert_eq!(chosen(&allowed), (vec!["g".into()], json!("required")));
}

#[test]
fn invalid_tool_is_named() {
    let config = |config: Value| {
        let config = json!({"functionCallingConfig": config});
        json!({"tools": declared(&["f"]), "toolConfig": config})
    };
    for (fields, path) in [
        (json!({"tools": [{"functionDeclarations": [{}]}]}), "functionDeclarations[0].name"),
        (json!({"tools": 5}), "tools"),
        (config(json!({"mode": "SOME"})), "functionCallingConfig.mode"),
        (config(json!({"mode": "ANY", "allowedFunctionNames": ["x"]})), "allowedFunctionNames[0]"),
    ] {
        let message = error(&fields);
        assert!(message.contains(path), "{message}");
    }
}

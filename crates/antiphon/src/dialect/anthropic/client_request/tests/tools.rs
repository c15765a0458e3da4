//! Tools and the choice among them.

use serde_json::{Value, json};

use super::{Anthropic, Chat, Responses, decode, decode_all};

fn tool(name: &str) -> Value {
    json!({"name": name, "input_schema": {"type": "object"}})
}

fn function(name: &str) -> Value {
    json!({"type": "function", "name": name, "parameters": {"type": "object"}, "strict": false})
}

#[test]
fn custom_tool_becomes_a_function() {
    let mut given = tool("f");
    given["type"] = "custom".into();
    given["description"] = "Does it.".into();
    given["strict"] = true.into();
    given["cache_control"] = json!({"type": "ephemeral"});
    let mut expected = function("f");
    expected["description"] = "Does it.".into();
    expected["strict"] = true.into();
    for upstream in [Responses, Chat] {
        let decoded = decode_all(&json!({"tools": [given, tool("g")]}), upstream);
        assert_eq!(decoded["tools"], json!([expected, function("g")]));
    }
    expected["cache_control"] = json!({"type": "ephemeral"});
    let decoded = decode_all(&json!({"tools": [given, tool("g")]}), Anthropic);
    assert_eq!(decoded["tools"], json!([expected, function("g")]));
}

#[test]
fn examples_of_a_tool_are_reported() {
    let mut given = tool("f");
    given["input_examples"] = json!([{}]);
    let (fields, omissions) = decode(&json!({"tools": [given]}), Responses);
    assert_eq!(fields["tools"], json!([function("f")]));
    assert_eq!(omissions, ["tools.0.input_examples"]);
}

#[test]
fn anthropics_own_tools_are_for_anthropic_only() {
    let own = [
        json!({"type": "web_search_20250305", "name": "web_search", "max_uses": 5}),
        json!({"type": "bash_20250124", "name": "bash"}),
        json!({"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"}),
    ];
    for own in own {
        let fields = json!({"tools": [own, tool("f")],
            "tool_choice": {"type": "tool", "name": own["name"]}});
        let kind = format!("anthropic:{}", own["type"].as_str().unwrap());
        let extension = json!({"type": kind, "name": own["name"], "content": own});
        let decoded = decode_all(&fields, Anthropic);
        assert_eq!(decoded["tools"], json!([extension, function("f")]));
        assert_eq!(decoded["tool_choice"], json!({"type": kind}));

        let alone = json!({"tools": [own], "tool_choice": {"type": "any"}});
        for upstream in [Responses, Chat] {
            let expected = vec!["tools.0".to_owned(), "tool_choice".to_owned()];
            assert_eq!(decode(&alone, upstream), (json!({}), expected.clone()));
            let (decoded, omissions) = decode(&fields, upstream);
            assert_eq!((&decoded["tool_choice"], omissions), (&Value::Null, expected));
        }
    }
}

#[test]
fn choice_becomes_that_of_responses() {
    for (choice, expected) in [
        (json!({"type": "auto"}), json!("auto")),
        (json!({"type": "any"}), json!("required")),
        (json!({"type": "none"}), json!("none")),
        (json!({"type": "tool", "name": "f"}), json!({"type": "function", "name": "f"})),
    ] {
        let decoded = decode_all(&json!({"tools": [tool("f")], "tool_choice": choice}), Chat);
        assert_eq!(decoded["tool_choice"], expected);
        assert_eq!(decoded["parallel_tool_calls"], Value::Null);
    }
    let single = json!({"type": "auto", "disable_parallel_tool_use": true});
    let decoded = decode_all(&json!({"tools": [tool("f")], "tool_choice": single}), Responses);
    assert_eq!(decoded["tool_choice"], "auto");
    assert_eq!(decoded["parallel_tool_calls"], false);
}

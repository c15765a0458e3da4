//! The fields of a request, by the API of the upstream.

use serde_json::{Value, json};

use super::{decode, decode_for};
use crate::dialect::UpstreamApi;

/// The decoded value of one field.
fn field(name: &str, fields: &Value) -> Value {
    let decoded = decode(fields);
    assert_eq!(decoded.omitted, [""; 0]);
    decoded.fields[name].clone()
}

#[test]
fn system_messages_at_start_become_instructions() {
    let messages = json!([{"role": "system", "content": "Be brief."},
        {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
        {"role": "user", "content": "Hi"}, {"role": "system", "content": "Now."}]);
    let decoded = decode(&json!({"messages": messages}));
    assert_eq!(decoded.fields["instructions"], "Be brief.\n\nBe kind.");
    let roles: Vec<_> = decoded.items.iter().map(|item| item["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "system"]);
}

#[test]
fn marked_system_message_stays_an_item() {
    let marked = json!({"type": "text", "text": "Be brief.", "cache_control": {"type": "e"}});
    let messages =
        json!([{"role": "system", "content": [marked]}, {"role": "user", "content": ""}]);
    let decoded = decode(&json!({"messages": messages}));
    assert!(decoded.fields.get("instructions").is_none());
    assert_eq!(decoded.items.len(), 2);
}

#[test]
fn output_limit_is_at_least_16() {
    assert_eq!(field("max_output_tokens", &json!({"max_tokens": 40})), 40);
    let both = json!({"max_tokens": 40, "max_completion_tokens": 50});
    assert_eq!(field("max_output_tokens", &both), 50);
    let small = decode(&json!({"max_completion_tokens": 5}));
    assert_eq!(small.fields["max_output_tokens"], 16);
    assert_eq!(small.omitted, ["max_completion_tokens"]);
    let chat = decode_for(UpstreamApi::Chat, &json!({"max_tokens": 5, "max_completion_tokens": 5}));
    assert_eq!(
        (&chat.fields["max_tokens"], &chat.fields["max_completion_tokens"]),
        (&json!(5), &json!(5))
    );
}

#[test]
fn tools_are_not_nested() {
    let parameters = json!({"type": "object", "properties": {}});
    let grammar = json!({"syntax": "lark", "definition": "start: \"a\""});
    let tools = json!([
        {"type": "function", "function": {"name": "f", "parameters": parameters, "strict": true}},
        {"type": "custom", "custom": {"name": "c", "format": {"type": "grammar",
            "grammar": grammar}}}]);
    let expected = json!([
        {"type": "function", "name": "f", "parameters": parameters, "strict": true},
        {"type": "custom", "name": "c", "format":
            {"type": "grammar", "syntax": "lark", "definition": "start: \"a\""}}]);
    assert_eq!(field("tools", &json!({"tools": tools})), expected);
}

/// The functions of the Responses API are strict by default.
#[test]
fn function_is_not_strict_by_default() {
    let tools = json!({"tools": [{"type": "function", "function": {"name": "f"}}]});
    let function = field("tools", &tools)[0].clone();
    assert_eq!(function["strict"], false);
    assert_eq!(function["parameters"], json!({"type": "object", "properties": {}}));
    let chat = decode_for(UpstreamApi::Chat, &tools).fields;
    assert_eq!(chat["tools"], json!([{"type": "function", "name": "f"}]));
}

#[test]
fn legacy_functions_become_tools() {
    let request = json!({"functions": [{"name": "f", "parameters": {}}],
        "function_call": {"name": "f"}});
    let fields = decode(&request).fields;
    assert_eq!(fields["tools"][0]["name"], "f");
    assert_eq!(fields["tool_choice"], json!({"type": "function", "name": "f"}));
    assert_eq!(fields["parallel_tool_calls"], false);
}

#[test]
fn tool_choices_are_not_nested() {
    let named = json!({"type": "function", "function": {"name": "f"}});
    let allowed = json!({"type": "allowed_tools",
        "allowed_tools": {"mode": "required", "tools": [named]}});
    for (choice, expected) in [
        (json!("required"), json!("required")),
        (json!("none"), json!("none")),
        (named, json!({"type": "function", "name": "f"})),
        (
            json!({"type": "custom", "custom": {"name": "c"}}),
            json!({"type": "custom", "name": "c"}),
        ),
        (
            allowed,
            json!({"type": "allowed_tools", "mode": "required",
            "tools": [{"type": "function", "name": "f"}]}),
        ),
    ] {
        assert_eq!(field("tool_choice", &json!({"tool_choice": choice})), expected);
    }
}

#[test]
fn format_and_verbosity_become_text() {
    let schema = json!({"name": "city", "schema": {"type": "object"}, "strict": true});
    let format = json!({"type": "json_schema", "json_schema": schema});
    let request = json!({"response_format": format, "verbosity": "low"});
    let expected = json!({"format": {"type": "json_schema", "name": "city",
        "schema": {"type": "object"}, "strict": true}, "verbosity": "low"});
    assert_eq!(field("text", &request), expected);
    let format = json!({"response_format": {"type": "json_object"}});
    assert_eq!(field("text", &format), json!({"format": {"type": "json_object"}}));
}

#[test]
fn encrypted_reasoning_is_always_included() {
    let encrypted = "reasoning.encrypted_content";
    assert_eq!(field("include", &json!({})), json!([encrypted]));
    let request = json!({"logprobs": true, "top_logprobs": 2, "reasoning_effort": "low"});
    let fields = decode(&request).fields;
    assert_eq!(fields["include"], json!([encrypted, "message.output_text.logprobs"]));
    assert_eq!(
        (&fields["top_logprobs"], &fields["reasoning"]),
        (&json!(2), &json!({"effort": "low"}))
    );
}

#[test]
fn web_search_options_become_a_tool() {
    let options = json!({"search_context_size": "low", "user_location":
        {"type": "approximate", "approximate": {"city": "Rome"}}});
    let tool = json!([{"type": "web_search", "search_context_size": "low",
        "user_location": {"type": "approximate", "city": "Rome"}}]);
    assert_eq!(field("tools", &json!({"web_search_options": options})), tool);
}

#[test]
fn other_fields_pass_only_to_chat_completions() {
    let request = json!({"stop": "END", "seed": 1, "logit_bias": {"5": 1}, "top_k": 3,
        "prediction": {"type": "content", "content": "x"}});
    let chat = decode_for(UpstreamApi::Chat, &request);
    for (key, value) in request.as_object().unwrap() {
        assert_eq!(&chat.fields[key], value);
    }
    assert_eq!(chat.omitted, [""; 0]);
    let mut omitted = decode(&request).omitted;
    omitted.sort();
    assert_eq!(omitted, ["logit_bias", "prediction", "seed", "stop", "top_k"]);
    let anthropic = decode_for(UpstreamApi::Anthropic, &request);
    assert_eq!(anthropic.fields["stop_sequences"], json!(["END"]));
}

#[test]
fn conversation_is_no_metadata() {
    let request = json!({"metadata": {"conversation": "conv_1"}, "store": true});
    let decoded = decode(&request);
    assert!(decoded.fields.get("metadata").is_none());
    assert_eq!(decoded.omitted, ["store"]);
    let request = json!({"metadata": {"conversation": "conv_1", "run": "7"}});
    assert_eq!(field("metadata", &request), json!({"run": "7"}));
}

#[test]
fn name_of_author_is_reported() {
    let messages = json!([{"role": "user", "name": "Ann", "content": "Hi"}]);
    assert_eq!(decode(&json!({"messages": messages})).omitted, ["messages[0].name"]);
}

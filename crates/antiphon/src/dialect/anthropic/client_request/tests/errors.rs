//! The texts of Anthropic's errors.

use serde_json::{Value, json};

use super::{Chat, Responses, request, try_decode};

fn refused(request: &Value) -> (String, String) {
    let errors = [Responses, Chat].map(|upstream| try_decode(request, upstream).unwrap_err());
    assert_eq!(errors[0], errors[1]);
    (errors[0].path.clone(), errors[0].message.clone())
}

#[test]
fn missing_field_is_named() {
    for key in ["model", "max_tokens", "messages"] {
        let mut request = request(&json!({}));
        request.as_object_mut().unwrap().remove(key);
        assert_eq!(refused(&request), (key.to_owned(), format!("{key}: Field required")));
    }
}

#[test]
fn invalid_field_is_named() {
    for (fields, message) in [
        (json!({"max_tokens": 0}), "max_tokens: Input should be greater than or equal to 1"),
        (json!({"max_tokens": -4}), "max_tokens: Input should be greater than or equal to 1"),
        (json!({"max_tokens": "1"}), "max_tokens: Input should be a valid integer"),
        (json!({"messages": []}), "messages: at least one message is required"),
        (json!({"messages": {}}), "messages: Input should be a valid list"),
        (json!({"system": 5}), "system: Input should be a valid list"),
        (json!({"system": [{"type": "text"}]}), "system.0.text.text: Field required"),
        (json!({"temperature": 1.5}), "temperature: range: 0..1"),
        (json!({"top_p": "x"}), "top_p: Input should be a valid number"),
        (json!({"top_k": -1}), "top_k: Input should be greater than or equal to 0"),
        (json!({"stream": 1}), "stream: Input should be a valid boolean"),
        (json!({"stop_sequences": "x"}), "stop_sequences: Input should be a valid list"),
        (json!({"stop_sequences": [1]}), "stop_sequences.0: Input should be a valid string"),
        (json!({"metadata": {"user_id": 1}}), "metadata.user_id: Input should be a valid string"),
        (
            json!({"metadata": {"conversation": 1}}),
            "metadata.conversation: Input should be a valid string",
        ),
        (json!({"service_tier": "x"}), "service_tier: Input should be 'auto' or 'standard_only'"),
        (json!({"thinking": {}}), "thinking.type: Field required"),
        (
            json!({"thinking": {"type": "enabled"}}),
            "thinking.enabled.budget_tokens: Field required",
        ),
        (
            json!({"thinking": {"type": "enabled", "budget_tokens": 5}}),
            "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
        ),
        (json!({"output_config": {"format": {}}}), "output_config.format.type: Field required"),
        (json!({"tools": [{"name": "f"}]}), "tools.0.custom.input_schema: Field required"),
        (
            json!({"tools": [{"name": "f", "input_schema": {}}],
                "tool_choice": {"type": "tool", "name": "g"}}),
            "Tool 'g' not found in provided tools",
        ),
    ] {
        assert_eq!(refused(&request(&fields)).1, message);
    }
}

#[test]
fn invalid_message_is_named() {
    let user = |block: Value| json!([{"role": "user", "content": [block]}]);
    let assistant = |block: Value| {
        let asked = json!({"role": "user", "content": "x"});
        json!([asked, {"role": "assistant", "content": [block]}])
    };
    for (messages, message) in [
        (json!(["x"]), "messages.0: Input should be a valid dictionary"),
        (json!([{"content": "x"}]), "messages.0.role: Field required"),
        (json!([{"role": "user"}]), "messages.0.content: Field required"),
        (
            json!([{"role": "user", "content": 5}]),
            "messages.0.content: Input should be a valid list",
        ),
        (
            json!([{"role": "tool", "content": "x"}]),
            "messages: Unexpected role \"tool\". Allowed roles are \"user\" or \"assistant\".",
        ),
        (user(json!({})), "messages.0.content.0.type: Field required"),
        (user(json!({"type": "text"})), "messages.0.content.0.text.text: Field required"),
        (
            user(json!({"type": "text", "text": 5})),
            "messages.0.content.0.text.text: Input should be a valid string",
        ),
        (
            user(json!({"type": "tool_use", "id": "t", "name": "f", "input": {}})),
            "messages.0: `tool_use` blocks can only be in `assistant` messages",
        ),
        (
            assistant(json!({"type": "tool_use", "name": "f", "input": {}})),
            "messages.1.content.0.tool_use.id: Field required",
        ),
        (
            assistant(json!({"type": "tool_use", "id": "t", "name": "f", "input": "x"})),
            "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
        ),
        (
            assistant(json!({"type": "tool_result", "tool_use_id": "t"})),
            "messages.1: `tool_result` blocks can only be in `user` messages",
        ),
        (
            user(json!({"type": "tool_result", "content": "x"})),
            "messages.0.content.0.tool_result.tool_use_id: Field required",
        ),
        (user(json!({"type": "image"})), "messages.0.content.0.image.source: Field required"),
    ] {
        assert_eq!(refused(&request(&json!({"messages": messages}))).1, message);
    }
}

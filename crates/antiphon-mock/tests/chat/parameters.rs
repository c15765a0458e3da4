//! The request's parameters.

use serde_json::{Value, json};

use crate::request::{accepted, hello, refused, user, with, without};

#[test]
fn model_and_messages_are_required() {
    let message = "you must provide a model parameter";
    refused(&without(hello(), "model"), (None, None, message));
    let message = "Missing required parameter: 'messages'.";
    let expected = (Some("messages"), Some("missing_required_parameter"), message);
    refused(&without(hello(), "messages"), expected);
    let message = "Invalid 'messages': empty array. Expected an array with minimum length 1, but \
        got an empty array instead.";
    let none = with(hello(), "messages", json!([]));
    refused(&none, (Some("messages"), Some("empty_array"), message));
}

#[test]
fn unknown_fields_are_refused() {
    for field in [
        "input",
        "instructions",
        "previous_response_id",
        "conversation",
        "include",
        "max_output_tokens",
        "max_tool_calls",
        "reasoning",
        "text",
        "truncation",
        "background",
        "acme_option",
    ] {
        let message = format!("Unknown parameter: '{field}'.");
        let expected = (Some(field), Some("unknown_parameter"), message.as_str());
        refused(&with(hello(), field, Value::Null), expected);
    }
    let nested = with(hello(), "messages", json!([{"role": "user", "content": "hi", "id": "m"}]));
    let message = "Unknown parameter: 'messages[0].id'.";
    refused(&nested, (Some("messages[0].id"), Some("unknown_parameter"), message));
}

#[test]
fn reasoning_model_refuses_max_tokens() {
    let limited = with(hello(), "max_tokens", json!(10));
    accepted(&limited);
    accepted(&with(hello(), "max_completion_tokens", json!(10)));
    let message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
        'max_completion_tokens' instead.";
    let expected = (Some("max_tokens"), Some("unsupported_parameter"), message);
    refused(&with(limited, "model", json!("fake-model")), expected);
}

#[test]
fn dependent_parameters_need_their_partner() {
    let options = with(hello(), "stream_options", json!({"include_usage": true}));
    let message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
    refused(&options, (Some("stream_options"), None, message));
    accepted(&with(options, "stream", json!(true)));

    let metadata = with(hello(), "metadata", json!({"a": "b"}));
    let message = "The 'metadata' parameter is only allowed when 'store' is enabled.";
    refused(&metadata, (Some("metadata"), None, message));
    accepted(&with(metadata, "store", json!(true)));

    for (param, value) in [("tool_choice", json!("auto")), ("parallel_tool_calls", json!(false))] {
        let message = format!(
            "Invalid value for '{param}': '{param}' is only allowed when 'tools' are specified."
        );
        let request = with(hello(), param, value);
        accepted(&request);
        refused(&without(request, "tools"), (Some(param), None, &message));
    }
}

#[test]
fn response_schema_needs_its_own_object() {
    let schema = json!({"name": "answer", "schema": {"type": "object"}, "strict": true});
    let format = json!({"type": "json_schema", "json_schema": schema});
    accepted(&with(hello(), "response_format", format));
    let flat = json!({"type": "json_schema", "name": "answer", "schema": {"type": "object"}});
    let message = "Missing required parameter: 'response_format.json_schema'.";
    let expected =
        (Some("response_format.json_schema"), Some("missing_required_parameter"), message);
    refused(&with(hello(), "response_format", flat), expected);
}

#[test]
fn unknown_effort_is_refused() {
    accepted(&with(hello(), "reasoning_effort", json!("high")));
    let message = "Invalid value: 'huge'. Supported values are: 'none', 'minimal', 'low', \
        'medium', 'high', 'xhigh', and 'max'.";
    let expected = (Some("reasoning_effort"), Some("invalid_value"), message);
    refused(&with(hello(), "reasoning_effort", json!("huge")), expected);
}

#[test]
fn nulls_count_as_absent() {
    let nulls = ["temperature", "tool_choice", "stream_options", "metadata", "response_format"];
    let body = nulls.into_iter().fold(hello(), |body, field| with(body, field, Value::Null));
    accepted(&body);
}

#[test]
fn wrong_type_is_refused() {
    let message = "Invalid type for 'messages': expected an array, but got a string instead.";
    let expected = (Some("messages"), Some("invalid_type"), message);
    refused(&with(hello(), "messages", json!("hi")), expected);
    let message = "Invalid type for 'messages[1]': expected an object, but got a string instead.";
    let messages = json!([user("hi"), "bye"]);
    refused(
        &with(hello(), "messages", messages),
        (Some("messages[1]"), Some("invalid_type"), message),
    );
}

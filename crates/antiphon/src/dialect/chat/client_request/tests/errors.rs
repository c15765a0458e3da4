//! Invalid requests get OpenAI's errors.

use serde_json::{Value, json};

use super::{request, try_decode};
use crate::dialect::UpstreamApi;

/// The path and the message of the error for these fields.
fn error(fields: &Value) -> (String, String) {
    let error = try_decode(&request(fields), UpstreamApi::Responses).err();
    error.map(|error| (error.path, error.message)).expect("it is invalid")
}

#[test]
fn invalid_messages_get_provider_errors() {
    for (messages, path, message) in [
        (json!(null), "messages", "Missing required parameter: 'messages'."),
        (
            json!("Hi"),
            "messages",
            "Invalid type for 'messages': expected an array of objects, but got a string instead.",
        ),
        (
            json!([]),
            "messages",
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an \
             empty array instead.",
        ),
        (
            json!(["Hi"]),
            "messages[0]",
            "Invalid type for 'messages[0]': expected an object, but got a string instead.",
        ),
        (
            json!([{"content": "Hi"}]),
            "messages[0].role",
            "Missing required parameter: 'messages[0].role'.",
        ),
        (
            json!([{"role": "human", "content": "Hi"}]),
            "messages[0].role",
            "Invalid value: 'human'. Supported values are: 'system', 'assistant', 'user', \
             'function', 'tool', and 'developer'.",
        ),
        (
            json!([{"role": "user", "content": 5}]),
            "messages[0].content",
            "Invalid type for 'messages[0].content': expected one of a string or array of \
             objects, but got an integer instead.",
        ),
        (
            json!([{"role": "tool", "content": "1"}]),
            "messages[0].tool_call_id",
            "Missing required parameter: 'messages[0].tool_call_id'.",
        ),
        (
            json!([{"role": "user", "content": "a"},
                {"role": "assistant", "tool_calls": [{"id": "1", "type": "function"}]}]),
            "messages[1].tool_calls[0].function",
            "Missing required parameter: 'messages[1].tool_calls[0].function'.",
        ),
        (
            json!([{"role": "system", "content": "a"},
                {"role": "user", "content": [{"type": "video"}]}]),
            "messages[1].content[0]",
            "Invalid 'messages[1].content[0]': a part of type 'video' is not supported here.",
        ),
    ] {
        let expected = (path.to_owned(), message.to_owned());
        assert_eq!(error(&json!({"messages": messages})), expected);
    }
}

#[test]
fn invalid_fields_get_provider_errors() {
    for (fields, path, message) in [
        (
            json!({"n": 2}),
            "n",
            "Invalid 'n': integer above maximum value. Expected a value <= 1, but got 2 instead.",
        ),
        (
            json!({"max_tokens": 0}),
            "max_tokens",
            "Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got 0 \
             instead.",
        ),
        (
            json!({"modalities": ["text", "audio"]}),
            "modalities[1]",
            "Invalid value: 'audio'. Supported values are: 'text'.",
        ),
        (
            json!({"stream_options": {}}),
            "stream_options",
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
        ),
        (
            json!({"top_logprobs": 2}),
            "top_logprobs",
            "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.",
        ),
        (
            json!({"tools": [{"type": "function", "function": {}}]}),
            "tools[0].function.name",
            "Missing required parameter: 'tools[0].function.name'.",
        ),
        (
            json!({"tools": [{"type": "web_search"}]}),
            "tools[0].type",
            "Invalid value: 'web_search'. Supported values are: 'function' and 'custom'.",
        ),
        (
            json!({"response_format": {"type": "xml"}}),
            "response_format.type",
            "Invalid value: 'xml'. Supported values are: 'json_object', 'json_schema', and \
             'text'.",
        ),
        (
            json!({"metadata": {"conversation": 1}}),
            "metadata.conversation",
            "Invalid type for 'metadata.conversation': expected a string, but got an integer \
             instead.",
        ),
        (
            json!({"stream": "yes"}),
            "stream",
            "Invalid type for 'stream': expected a boolean, but got a string instead.",
        ),
    ] {
        assert_eq!(error(&fields), (path.to_owned(), message.to_owned()));
    }
}

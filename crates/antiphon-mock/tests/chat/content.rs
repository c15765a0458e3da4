//! The content of a message.

use serde_json::{Value, json};

use crate::request::{accepted, call, calling, refused, request, tool, user};

const MISSING: Option<&str> = Some("missing_required_parameter");
const INVALID: Option<&str> = Some("invalid_value");

fn part(role: &str, part: &Value) -> Value {
    request(&json!([{"role": role, "content": [part]}]))
}

#[test]
fn well_formed_messages_of_every_role_are_accepted() {
    let image = json!({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}});
    accepted(&request(&json!([
        {"role": "system", "content": "Be kind."},
        {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
        {"role": "user", "content": [{"type": "text", "text": "hi"}, image], "name": "ann"},
        {"role": "user", "content": "twice in a row"},
        {"role": "assistant", "content": "Hello.", "refusal": null, "tool_calls": [call("call_1")]},
        {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "done"}]},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        {"role": "assistant", "content": null, "refusal": "No."},
    ])));
}

#[test]
fn missing_or_unknown_role_is_refused() {
    let message = "Missing required parameter: 'messages[0].role'.";
    refused(&request(&json!([{"content": "hi"}])), (Some("messages[0].role"), MISSING, message));
    let message = "Invalid value: 'bot'. Supported values are: 'system', 'assistant', 'user', \
        'function', 'tool', and 'developer'.";
    let bot = request(&json!([{"role": "bot", "content": "hi"}]));
    refused(&bot, (Some("messages[0].role"), INVALID, message));
}

#[test]
fn only_calling_or_refusing_assistant_may_lack_content() {
    accepted(&request(&json!([user("hi"), calling(&[call("call_1")]), tool("call_1")])));
    let message = "Invalid value for 'content': expected a string, got null.";
    for content in [json!({"role": "assistant"}), json!({"role": "assistant", "content": null})] {
        let body = request(&json!([user("hi"), content]));
        refused(&body, (Some("messages.[1].content"), None, message));
    }
    let body = request(&json!([{"role": "user", "content": null}]));
    refused(&body, (Some("messages.[0].content"), None, message));
    let message = "Missing required parameter: 'messages[0].content'.";
    let body = request(&json!([{"role": "user"}]));
    refused(&body, (Some("messages[0].content"), MISSING, message));
    let message = "Invalid 'messages[0].content': empty array. Expected an array with minimum \
        length 1, but got an empty array instead.";
    let body = request(&json!([{"role": "user", "content": []}]));
    refused(&body, (Some("messages[0].content"), Some("empty_array"), message));
}

#[test]
fn responses_api_parts_are_refused() {
    for kind in ["input_text", "output_text", "input_image", "input_file"] {
        let message = format!(
            "Invalid value: '{kind}'. Supported values are: 'text', 'image_url', 'input_audio', \
            'refusal', 'audio', and 'file'."
        );
        let body = part("user", &json!({"type": kind, "text": "hi"}));
        refused(&body, (Some("messages[0].content[0].type"), INVALID, &message));
    }
    let annotated = part("assistant", &json!({"type": "text", "text": "a", "annotations": []}));
    let param = "messages[0].content[0].annotations";
    let message = "Unknown parameter: 'messages[0].content[0].annotations'.";
    refused(&annotated, (Some(param), Some("unknown_parameter"), message));
    let image = part("user", &json!({"type": "image_url", "image_url": "https://example.com"}));
    let param = "messages[0].content[0].image_url";
    let message = "Invalid type for 'messages[0].content[0].image_url': expected an object, but \
        got a string instead.";
    refused(&image, (Some(param), Some("invalid_type"), message));
}

#[test]
fn only_users_may_send_images() {
    let image = json!({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}});
    let messages = json!([user("hi"), calling(&[call("call_1")]),
        {"role": "tool", "tool_call_id": "call_1", "content": [image]}]);
    let message = "Invalid 'messages[2]'. Image URLs are only allowed for messages with role \
        'user', but this message with role 'tool' contains an image URL.";
    refused(&request(&messages), (Some("messages[2]"), INVALID, message));
    let file = part("system", &json!({"type": "file", "file": {"file_id": "file_1"}}));
    let message = "Invalid value: 'file'. Supported values are: 'text'.";
    refused(&file, (Some("messages[0].content[0].type"), INVALID, message));
}

//! The rules for each message and block alone.

use serde_json::{Value, json};

use crate::request::{
    accepted, assistant, call, hello, refused, request, result, text, thinking, user, with,
};

#[test]
fn well_formed_messages_are_accepted() {
    let image = json!({"type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}});
    let search = json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search",
        "input": {}});
    accepted(&request(&json!([
        user("hi"),
        user([text("roles may repeat"), image.clone()]),
        assistant("Hello."),
        assistant([thinking("hm"), text("Wait."), search, call("toolu_1")]),
        user([
            json!({"type": "tool_result", "tool_use_id": "toolu_1", "is_error": false,
            "content": [text("done"), image]}),
            text("go on")
        ]),
        assistant("It was"),
    ])));
}

#[test]
fn first_message_must_be_from_the_user() {
    refused(&with(hello(), "messages", json!([])), "messages: at least one message is required");
    let message = "messages: first message must use the \"user\" role";
    refused(&request(&json!([assistant("Hello."), user("hi")])), message);
}

#[test]
fn only_user_and_assistant_roles_exist() {
    let message = "messages: Unexpected role \"system\". The Messages API accepts a top-level \
        `system` parameter, not \"system\" as an input message role.";
    refused(&request(&json!([{"role": "system", "content": "Be kind."}, user("hi")])), message);
    let message =
        "messages: Unexpected role \"tool\". Allowed roles are \"user\" or \"assistant\".";
    refused(&request(&json!([user("hi"), {"role": "tool", "content": "done"}])), message);
}

#[test]
fn unknown_fields_and_blocks_are_refused() {
    for (message, refusal) in [
        (
            json!({"role": "user", "content": "hi", "name": "ann"}),
            "messages.0.name: Extra inputs are not permitted",
        ),
        (
            user([json!({"type": "text", "text": "hi", "annotations": []})]),
            "messages.0.content.0.text.annotations: Extra inputs are not permitted",
        ),
        (user([json!({"type": "text"})]), "messages.0.content.0.text.text: Field required"),
        (json!({"role": "user"}), "messages.0.content: Field required"),
        (
            user([json!({"type": "image", "source": {"type": "base64", "data": "",
                "media_type": "image/bmp"}})]),
            "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', \
            'image/png', 'image/gif' or 'image/webp'",
        ),
    ] {
        refused(&request(&json!([message])), refusal);
    }
    let foreign = request(&json!([user([json!({"type": "input_text", "text": "hi"})])]));
    let message = "messages.0.content.0: Input tag 'input_text' found using 'type' does not match \
        any of the expected tags: 'bash_code_execution_tool_result', \
        'code_execution_tool_result', 'container_upload', 'document', 'image', \
        'mcp_tool_result', 'mcp_tool_use', 'redacted_thinking', 'search_result', \
        'server_tool_use', 'text', 'text_editor_code_execution_tool_result', 'thinking', \
        'tool_result', 'tool_search_tool_result', 'tool_use', 'web_fetch_tool_result', \
        'web_search_tool_result'";
    refused(&foreign, message);
}

#[test]
fn block_of_the_other_role_is_refused() {
    let of_assistants = "messages.0: `tool_use` blocks can only be in `assistant` messages";
    refused(&request(&json!([user([call("toolu_1")])])), of_assistants);
    let of_assistants = "messages.0: `thinking` blocks can only be in `assistant` messages";
    refused(&request(&json!([user([thinking("hm")])])), of_assistants);
    let of_users = "messages.1: `tool_result` blocks can only be in `user` messages";
    refused(&request(&json!([user("hi"), assistant([result("toolu_1")])])), of_users);
}

#[test]
fn empty_message_is_refused() {
    let empty = |index: usize| {
        format!(
            "messages.{index}: all messages must have non-empty content except for the optional \
            final assistant message"
        )
    };
    refused(&request(&json!([user("")])), &empty(0));
    refused(&request(&json!([user("hi"), assistant(json!([])), user("bye")])), &empty(1));
    accepted(&request(&json!([user("hi"), assistant("")])));
}

#[test]
fn empty_or_blank_text_is_refused() {
    let in_result = json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": [text("")]});
    let empty = "messages: text content blocks must be non-empty";
    refused(&request(&json!([user([text("")])])), empty);
    refused(&request(&json!([user("hi"), assistant([text(""), text("a")]), user("b")])), empty);
    let calling = assistant([call("toolu_1")]);
    refused(&request(&json!([user("hi"), calling, user([in_result])])), empty);
    let blank = "messages: text content blocks must contain non-whitespace text";
    refused(&request(&json!([user("hi"), assistant([text("\n")]), user("b")])), blank);
    refused(&request(&json!([user(" ")])), blank);
    let silent: Value = json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": ""});
    accepted(&request(&json!([user("hi"), calling, user([silent])])));
}

#[test]
fn prefill_with_trailing_whitespace_is_refused() {
    let message = "messages: final assistant content cannot end with trailing whitespace";
    refused(&request(&json!([user("hi"), assistant("It was ")])), message);
    refused(&request(&json!([user("hi"), assistant([text("It was\n")])])), message);
    accepted(&request(&json!([user("hi"), assistant("It was "), user("?")])));
}

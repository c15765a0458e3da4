//! Items of other kinds.

use serde_json::json;

use super::{given, messages, refused, send, text};
use crate::item::given::{bare_assistant, user};

#[test]
fn anthropic_blocks_are_returned_unchanged() {
    let search =
        json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}});
    let found =
        json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []});
    let items = [
        user("hi"),
        given(&json!({"type": "anthropic:server_tool_use", "content": search})),
        given(&json!({"type": "anthropic:web_search_tool_result", "content": found})),
        bare_assistant("Found."),
    ];
    assert_eq!(messages(&items)[1]["content"], json!([search, found, text("Found.")]));
}

#[test]
fn user_extension_block_returns_to_user_message() {
    let result = json!({"type": "search_result", "source": "a", "title": "b", "content": []});
    let own = json!({"type": "anthropic:search_result", "role": "user", "content": result});
    assert_eq!(messages(&[given(&own), user("hi")])[0]["content"], json!([result, text("hi")]));
}

#[test]
fn records_of_other_providers_tools_are_left_out() {
    for kind in [
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
        "tool_search_call",
        "tool_search_output",
        "acme:telemetry",
    ] {
        let items =
            [user("hi"), given(&json!({"type": kind, "id": "x_1"})), bare_assistant("hello")];
        let sent = send(&json!({}), &items);
        assert_eq!(sent.messages()[1]["content"], json!([text("hello")]), "{kind}");
        assert_eq!(sent.reported, ["input[1]"], "{kind}");
    }
}

#[test]
fn items_with_state_or_pending_action_are_rejected() {
    for kind in [
        "compaction",
        "item_reference",
        "computer_call",
        "computer_call_output",
        "shell_call",
        "shell_call_output",
        "local_shell_call",
        "local_shell_call_output",
        "apply_patch_call",
        "apply_patch_call_output",
        "mcp_approval_request",
        "mcp_approval_response",
        "kind_of_tomorrow",
    ] {
        let items = [user("hi"), given(&json!({"type": kind, "id": "x_1", "call_id": "c"}))];
        let (place, message) = refused(&json!({}), &items);
        assert_eq!(place, "input[1].type", "{kind}");
        assert!(message.contains(kind), "{message}");
    }
}

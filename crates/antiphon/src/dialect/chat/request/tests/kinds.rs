//! Items that Chat Completions has no message for.

use super::*;

#[test]
fn records_of_provider_tools_are_left_out() {
    for kind in [
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_list_tools",
        "mcp_call",
        "tool_search_call",
        "tool_search_output",
        "anthropic:server_tool_use",
    ] {
        let record = json!({"type": kind, "id": "x_1", "status": "completed"});
        let (messages, omitted) = reported(&json!([user("hi"), record, assistant("Yes.")]));
        let expected = json!([user("hi"), {"role": "assistant", "content": "Yes."}]);
        assert_eq!(messages, expected, "{kind}");
        assert_eq!(omitted, ["input[1]"], "{kind}");
    }
}

#[test]
fn record_between_calls_does_not_separate_them() {
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed"});
    let input = json!([
        call("call_1", "{}"),
        search,
        call("call_2", "{}"),
        output("call_1", "1"),
        output("call_2", "2")
    ]);
    let (messages, _) = reported(&input);
    assert_eq!(messages[0]["tool_calls"].as_array().unwrap().len(), 2);
}

#[test]
fn items_with_state_or_pending_action_are_rejected() {
    for kind in [
        "shell_call",
        "shell_call_output",
        "local_shell_call",
        "local_shell_call_output",
        "apply_patch_call",
        "apply_patch_call_output",
        "computer_call",
        "computer_call_output",
        "program",
        "program_output",
        "multi_agent_call",
        "multi_agent_call_output",
        "mcp_approval_request",
        "mcp_approval_response",
        "compaction",
        "compaction_trigger",
        "additional_tools",
        "agent_message",
        "configuration_update",
        "item_reference",
        "something_new",
    ] {
        let item = json!({"type": kind, "id": "x_1", "call_id": "call_1"});
        let (place, message) = refused(&json!({"model": "m"}), &json!([user("hi"), item]));
        assert_eq!(place, "input[1]", "{kind}");
        assert!(message.contains(kind), "{message}");
    }
}

#[test]
fn omission_message_names_path_and_reason() {
    let search = json!({"type": "web_search_call", "id": "ws_1"});
    let encoded = tried(&json!({"model": "m"}), &items(&json!([search]))).unwrap();
    assert_eq!(
        encoded.omissions[0].message,
        "'input[0]' is left out for Chat Completions: \
         'web_search_call' items record the work of a provider's tool."
    );
}

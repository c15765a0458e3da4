//! The form of ids.

use antiphon_mock::judge::validate;
use serde_json::json;

use crate::request::{assistant, call, output, refused, replay, user};

#[test]
fn item_id_needs_its_type_prefix() {
    for (kind, prefix) in [
        ("message", "msg"),
        ("reasoning", "rs"),
        ("function_call", "fc"),
        ("function_call_output", "fc"),
        ("custom_tool_call", "ctc"),
        ("custom_tool_call_output", "ctco"),
        ("web_search_call", "ws"),
        ("file_search_call", "fs"),
        ("code_interpreter_call", "ci"),
        ("image_generation_call", "ig"),
        ("mcp_call", "mcp"),
        ("mcp_list_tools", "mcpl"),
        ("mcp_approval_request", "mcpr"),
        ("computer_call", "cu"),
        ("local_shell_call", "lsh"),
        ("shell_call", "sh"),
        ("apply_patch_call", "apc"),
        ("compaction", "cmp"),
    ] {
        let item = json!({"type": kind, "id": "item_abc", "role": "user", "call_id": "call_1"});
        let message = format!(
            "Invalid 'input[3].id': 'item_abc'. Expected an ID that begins with '{prefix}'."
        );
        let input = replay(&json!([user("a"), user("b"), user("c"), item]));
        refused(&input, (400, Some("input[3].id"), Some("invalid_value"), &message));
    }
}

#[test]
fn item_id_characters_are_restricted() {
    for id in ["", "msg_a.b", "msg 1"] {
        let message = format!(
            "Invalid 'input[0].id': '{id}'. Expected an ID that contains letters, numbers, \
            underscores, or dashes, but this value contained additional characters."
        );
        let input = replay(&json!([assistant(id)]));
        refused(&input, (400, Some("input[0].id"), Some("invalid_value"), &message));
    }
}

#[test]
fn ids_have_at_most_64_characters() {
    let long = |field: &str, length: usize| {
        format!(
            "Invalid 'input[2].{field}': string too long. Expected a string with maximum length \
            64, but got a string with length {length} instead."
        )
    };
    let code = Some("string_above_max_length");
    let id = format!("msg_{}", "a".repeat(412));
    let input = replay(&json!([user("a"), user("b"), assistant(&id)]));
    refused(&input, (400, Some("input[2].id"), code, &long("id", 416)));
    let call_id = "c".repeat(65);
    let input = replay(&json!([user("a"), user("b"), call("fc_1", &call_id), output(&call_id)]));
    refused(&input, (400, Some("input[2].call_id"), code, &long("call_id", 65)));
    let call_id = "c".repeat(64);
    assert_eq!(validate(&replay(&json!([call("fc_1", &call_id), output(&call_id)]))), Ok(()));
}

#[test]
fn call_and_output_need_a_call_id() {
    let empty = "Invalid 'input[1].call_id': empty string. Expected a string with minimum length \
                 1, but got an empty string instead.";
    let input = replay(&json!([user("hi"), call("fc_1", ""), output("")]));
    refused(&input, (400, Some("input[1].call_id"), Some("empty_string"), empty));
    let missing = "Missing required parameter: 'input[0].call_id'.";
    let code = Some("missing_required_parameter");
    let input = replay(&json!([{"type": "function_call", "name": "echo", "arguments": "{}"}]));
    refused(&input, (400, Some("input[0].call_id"), code, missing));
    let input = replay(&json!([{"type": "function_call_output", "output": "noon"}]));
    refused(&input, (400, Some("input[0].call_id"), code, missing));
}

#[test]
fn answer_needs_the_field_that_names_its_call() {
    for (kind, field) in
        [("mcp_approval_response", "approval_request_id"), ("local_shell_call_output", "id")]
    {
        let input = replay(&json!([{"type": kind, "approve": true, "output": "noon"}]));
        let param = format!("input[0].{field}");
        let message = format!("Missing required parameter: '{param}'.");
        let code = Some("missing_required_parameter");
        refused(&input, (400, Some(&param), code, &message));
    }
}

/// The provider's text: <https://github.com/openai/codex/issues/6926>.
#[test]
fn items_of_some_types_need_an_id() {
    for kind in [
        "item_reference",
        "file_search_call",
        "web_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "computer_call",
        "local_shell_call",
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_call",
        "program",
        "program_output",
        "reasoning",
    ] {
        let item = json!({"type": kind, "call_id": "call_1"});
        let input = replay(&json!([user("hi"), item]));
        let message = "Missing required parameter: 'input[1].id'.";
        let code = Some("missing_required_parameter");
        refused(&input, (400, Some("input[1].id"), code, message));
    }
}

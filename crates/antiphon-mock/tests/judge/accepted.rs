//! Requests that pass, and the form of a refusal.

use antiphon_mock::judge::validate;
use antiphon_mock::{Refusal, encrypted_content};
use http::StatusCode;
use serde_json::{Value, json};

use crate::request::{MODEL, RS, assistant, call, output, reasoning, replay, user, with};

#[test]
fn valid_replay_is_accepted() {
    for (case, input) in [
        ("a string", json!("hi")),
        ("a message without a type", json!([user("hi")])),
        ("equal messages", json!([user("yes"), user("yes")])),
        (
            "nulls for unset fields",
            json!([
                {"type": "message", "id": null, "status": null, "role": "user", "content": "hi"},
            ]),
        ),
        (
            "a tool loop",
            json!([
                user("hi"),
                reasoning(RS),
                call("fc_1", "call_1"),
                output("call_1"),
                assistant("msg_1"),
                user("bye"),
            ]),
        ),
        (
            "parallel calls answered in another order",
            json!([
                call("fc_1", "call_1"),
                call("fc_2", "call_2"),
                output("call_2"),
                output("call_1"),
            ]),
        ),
        (
            "a chain of reasoning",
            json!([reasoning("rs_1"), reasoning("rs_2"), assistant("msg_1"),]),
        ),
        (
            "reasoning before a hosted tool",
            json!([
                reasoning(RS),
                {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {}},
            ]),
        ),
        (
            "reasoning whose id the client omitted",
            json!([
                {"type": "reasoning", "summary": [],
                    "encrypted_content": encrypted_content(MODEL, RS)},
                assistant("msg_1"),
            ]),
        ),
        (
            "a search that the provider ran itself",
            json!([
                {"type": "tool_search_call", "call_id": null, "execution": "server",
                    "arguments": {}},
                {"type": "tool_search_output", "call_id": null, "execution": "server", "tools": []},
            ]),
        ),
        (
            "a local shell's output named by the call's id",
            json!([
                {"type": "local_shell_call", "id": "lsh_1", "call_id": "call_1", "action": {}},
                {"type": "local_shell_call_output", "id": "call_1", "output": "ok"},
            ]),
        ),
        (
            "compaction of its own",
            json!([
                {"type": "compaction", "id": "cmp_1",
                    "encrypted_content": encrypted_content(MODEL, "cmp_1")},
                user("hi"),
            ]),
        ),
        (
            "unknown item types",
            json!([
                reasoning(RS), {"type": "acme:thing", "id": "thing/1", "anything": 1}, user("hi"),
            ]),
        ),
    ] {
        assert_eq!(validate(&replay(&input)), Ok(()), "{case}");
    }
}

#[test]
fn unknown_fields_and_nulls_are_accepted() {
    let body = with(replay(&json!("hi")), "acme_option", json!({"deep": true}));
    let body = with(with(body, "conversation", Value::Null), "previous_response_id", Value::Null);
    assert_eq!(validate(&body), Ok(()));
}

#[test]
fn refusal_renders_as_error_body() {
    let refusal = validate(&replay(&json!([user("hi"), call("fc_1", "call_1")])));
    let refusal: Refusal = refusal.expect_err("the call is unanswered");
    assert_eq!(refusal.status, StatusCode::BAD_REQUEST);
    let expected = json!({"error": {
        "message": "No tool output found for function call call_1.",
        "type": "invalid_request_error",
        "param": "input",
        "code": null,
    }});
    assert_eq!(refusal.body(), expected);
}

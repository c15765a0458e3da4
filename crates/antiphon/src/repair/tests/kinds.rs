//! Every kind of call: answered, unanswered, and its output alone.

use super::{Action, assert_accepted, input_refusal, left_of, refusal, repairs};
use crate::item::given::{item, user};
use crate::item::{Item, Kind};

/// A call, its output, and the names that the provider uses for both.
struct Pair {
    call: &'static str,
    output: &'static str,
    names: (&'static str, &'static str),
    /// The placeholder output; `None` if an unanswered call is left out instead.
    placeholder: Option<&'static str>,
}

const PLACEHOLDER_TEXT: &str = "No output was recorded for this call.";

const PAIRS: [Pair; 9] = [
    Pair {
        call: r#"{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}"#,
        output: r#"{"type":"function_call_output","call_id":"c1","output":"ok"}"#,
        names: ("function call", "function call output"),
        placeholder: Some(
            r#"{"type":"function_call_output","call_id":"c1","output":"PLACEHOLDER_TEXT"}"#,
        ),
    },
    Pair {
        call: r#"{"type":"custom_tool_call","call_id":"c1","name":"f","input":""}"#,
        output: r#"{"type":"custom_tool_call_output","call_id":"c1","output":"ok"}"#,
        names: ("custom tool call", "custom tool call output"),
        placeholder: Some(
            r#"{"type":"custom_tool_call_output","call_id":"c1","output":"PLACEHOLDER_TEXT"}"#,
        ),
    },
    Pair {
        call: r#"{"type":"shell_call","call_id":"c1","action":{"commands":["ls"]}}"#,
        output: r#"{"type":"shell_call_output","call_id":"c1","output":[]}"#,
        names: ("shell call", "shell call output"),
        placeholder: Some(concat!(
            r#"{"type":"shell_call_output","call_id":"c1","output":[{"stdout":"","#,
            r#""stderr":"PLACEHOLDER_TEXT","outcome":{"type":"timeout"}}]}"#,
        )),
    },
    Pair {
        call: concat!(
            r#"{"type":"local_shell_call","id":"lsh_1","call_id":"c1","action":{},"#,
            r#""status":"completed"}"#,
        ),
        output: r#"{"type":"local_shell_call_output","id":"c1","output":"ok"}"#,
        names: ("local shell call", "local shell call output"),
        placeholder: Some(concat!(
            r#"{"type":"local_shell_call_output","id":"c1","output":"PLACEHOLDER_TEXT","#,
            r#""status":"incomplete"}"#,
        )),
    },
    Pair {
        call: r#"{"type":"apply_patch_call","call_id":"c1","operation":{},"status":"completed"}"#,
        output: r#"{"type":"apply_patch_call_output","call_id":"c1","status":"completed"}"#,
        names: ("apply patch call", "apply patch call output"),
        placeholder: Some(concat!(
            r#"{"type":"apply_patch_call_output","call_id":"c1","status":"failed","#,
            r#""output":"PLACEHOLDER_TEXT"}"#,
        )),
    },
    Pair {
        call: r#"{"type":"tool_search_call","call_id":"c1","arguments":{},"execution":"client"}"#,
        output: r#"{"type":"tool_search_output","call_id":"c1","tools":[]}"#,
        names: ("tool search call", "tool search output"),
        placeholder: Some(
            r#"{"type":"tool_search_output","call_id":"c1","tools":[],"status":"incomplete"}"#,
        ),
    },
    Pair {
        call: concat!(
            r#"{"type":"computer_call","id":"cu_1","call_id":"c1","pending_safety_checks":[],"#,
            r#""status":"completed"}"#,
        ),
        output: concat!(
            r#"{"type":"computer_call_output","call_id":"c1","#,
            r#""output":{"type":"computer_screenshot"}}"#,
        ),
        names: ("computer call", "computer call output"),
        placeholder: None,
    },
    Pair {
        call: r#"{"type":"program","id":"prog_1","call_id":"c1","code":"","fingerprint":""}"#,
        output: concat!(
            r#"{"type":"program_output","id":"progo_1","call_id":"c1","result":"","#,
            r#""status":"completed"}"#,
        ),
        names: ("program", "program output"),
        placeholder: None,
    },
    Pair {
        call: r#"{"type":"multi_agent_call","id":"mac_1","call_id":"c1"}"#,
        output: r#"{"type":"multi_agent_call_output","call_id":"c1"}"#,
        names: ("multi agent call", "multi agent call output"),
        placeholder: None,
    },
];

#[test]
fn answered_call_of_any_kind_is_accepted() {
    for pair in &PAIRS {
        assert_accepted(&[user("hi"), item(pair.call), item(pair.output)]);
    }
}

#[test]
fn unanswered_call_is_answered_or_dropped_by_kind() {
    for pair in &PAIRS {
        let given = [user("hi"), item(pair.call)];
        let (name, _) = pair.names;
        let message = format!("No tool output found for {name} c1.");
        assert_eq!(refusal(&given), input_refusal(&message));
        let left = left_of(&given);
        if let Some(placeholder) = pair.placeholder {
            assert_eq!(repairs(&given), [(1, "unanswered_call", Action::Answered)]);
            assert_eq!(left[2].text(), placeholder.replace("PLACEHOLDER_TEXT", PLACEHOLDER_TEXT));
        } else {
            assert_eq!(repairs(&given), [(1, "unanswered_call", Action::Dropped)]);
            assert_eq!(left.len(), 1);
        }
    }
}

#[test]
fn output_alone_is_dropped_for_any_kind() {
    for pair in &PAIRS {
        let given = [item(pair.output), user("hi")];
        let (_, name) = pair.names;
        let message = format!("No tool call found for {name} with call_id c1.");
        assert_eq!(refusal(&given), input_refusal(&message));
        assert_eq!(repairs(&given), [(0, "output_without_call", Action::Dropped)]);
        assert_eq!(left_of(&given).len(), 1);
    }
}

#[test]
fn second_exchange_gets_its_own_call_id() {
    for pair in &PAIRS {
        let other =
            |text: &str| item(text.replace(r#""type""#, r#""x":2,"type""#).replace("_1\"", "_2\""));
        let first = [item(pair.call).with(|object| object.set("x", "1")), item(pair.output)];
        let given = [first[0].clone(), first[1].clone(), other(pair.call), other(pair.output)];
        assert_eq!(repairs(&given), [(2, "duplicate_call", Action::Renamed)], "{}", pair.call);
        let left = left_of(&given);
        let name = |item: &Item| item.head().call_id.as_ref().map(ToString::to_string);
        assert_eq!(name(&left[2]).as_deref(), Some("c1_2"));
        assert_eq!(name(&left[3]).as_deref(), Some("c1_2"));
    }
}

#[test]
fn approval_may_stay_open_but_needs_a_request() {
    let request = item(concat!(
        r#"{"type":"mcp_approval_request","id":"mcpr_1","server_label":"s","name":"f","#,
        r#""arguments":"{}"}"#,
    ));
    let response =
        item(r#"{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true}"#);
    assert_accepted(&[user("hi"), request.clone()]);
    assert_accepted(&[user("hi"), request.clone(), response.clone()]);
    assert_eq!(
        repairs(&[user("hi"), response.clone()]),
        [(1, "output_without_call", Action::Dropped)]
    );
    let twice = [request.clone(), response.clone(), request, response];
    assert_eq!(left_of(&twice).len(), 2);
}

#[test]
fn hosted_tool_search_needs_no_output() {
    assert_accepted(&[
        item(r#"{"type":"tool_search_call","call_id":null,"arguments":{},"execution":"server"}"#),
        item(r#"{"type":"tool_search_output","call_id":null,"tools":[],"execution":"server"}"#),
    ]);
}

#[test]
fn cases_cover_every_kind_of_call() {
    for pair in &PAIRS {
        let (call, output) = (item(pair.call), item(pair.output));
        assert_eq!(call.head().kind.output().as_ref(), Some(&output.head().kind));
        assert_ne!(output.head().kind, Kind::McpApprovalResponse);
    }
}

//! Stripped and unchanged requests.

use super::*;

/// The second turn of a client that replays items which the server holds.
const REPLAYED: &str = r#"[
    {"role":"user","content":"Weather in Bonn?"},
    {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAA"},
    {"type":"function_call","id":"fc_1","call_id":"call_1","name":"get_weather","arguments":"{}"},
    {"type":"function_call_output","call_id":"call_1","output":"10 degrees"}
  ]"#;

fn request(marker: &str, input: &str) -> Bytes {
    format!("{{ \"model\": \"m\",{marker}\n  \"input\": {input},\n  \"n\": 1e2 }}").into()
}

fn with_marker(input: &str) -> Bytes {
    request(r#" "previous_response_id": "resp_1","#, input)
}

/// The kinds of the items of `input` that stay in a request with a marker.
fn left_of(input: &str) -> Vec<String> {
    let body = strip(&with_marker(input)).unwrap().body;
    let input =
        Bytes::copy_from_slice(Object::parse(&body).unwrap().get("input").unwrap().as_bytes());
    parse_items(&input).unwrap().iter().map(|item| item.head().kind.to_string()).collect()
}

#[test]
fn replayed_call_is_stripped_but_its_output_stays() {
    let stripped = strip(&with_marker(REPLAYED)).unwrap();
    let expected = with_marker(
        r#"[
    {"role":"user","content":"Weather in Bonn?"},
    {"type":"function_call_output","call_id":"call_1","output":"10 degrees"}
  ]"#,
    );
    assert_eq!(stripped.body, expected);
    assert_eq!(stripped.marker, Some(Marker::PreviousResponseId));
    let reasoning = StrippedItem { position: 1, kind: Kind::Reasoning, id: Some("rs_1".into()) };
    let call = StrippedItem { position: 2, kind: Kind::FunctionCall, id: Some("fc_1".into()) };
    assert_eq!(stripped.items, [reasoning, call]);
}

#[test]
fn request_without_marker_is_unchanged() {
    let none = ["", r#" "previous_response_id": null,"#, r#" "conversation": null,"#];
    for marker in none {
        let given = request(marker, REPLAYED);
        let stripped = strip(&given).unwrap();
        assert_eq!(stripped, Stripped { body: given, marker: None, items: vec![] }, "{marker}");
    }
}

#[test]
fn every_marker_counts() {
    let markers = [
        (r#" "previous_response_id": "resp_1","#, Marker::PreviousResponseId),
        (r#" "conversation": "conv_1","#, Marker::Conversation),
        (r#" "conversation": {"id": "conv_1"},"#, Marker::Conversation),
        (r#" "conversation_id": "conv_1","#, Marker::ConversationId),
    ];
    for (text, marker) in markers {
        let stripped = strip(&request(text, REPLAYED)).unwrap();
        assert_eq!((stripped.marker, stripped.items.len()), (Some(marker), 2), "{text}");
    }
}

const APPROVAL: &str =
    r#"{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true}"#;
const SHELL_OUTPUT: &str = r#"{"type":"local_shell_call_output","call_id":"c","output":"ok"}"#;

#[test]
fn new_answer_stays_and_its_call_is_stripped() {
    let request = r#"{"type":"mcp_approval_request","id":"mcpr_1","name":"f","arguments":"{}",
        "server_label":"s"}"#;
    let go_on = r#"{"role":"user","content":"Go on."}"#;
    assert_eq!(
        left_of(&format!("[{request},{APPROVAL},{go_on}]")),
        ["mcp_approval_response", "message"]
    );
    let call = r#"{"type":"local_shell_call","id":"lsh_1","call_id":"c","action":{},
        "status":"completed"}"#;
    assert_eq!(left_of(&format!("[{call},{SHELL_OUTPUT}]")), ["local_shell_call_output"]);
}

#[test]
fn answer_before_an_assistant_message_is_stripped() {
    let done = r#"{"role":"assistant","content":"Done."}"#;
    for answer in [APPROVAL, SHELL_OUTPUT] {
        assert_eq!(left_of(&format!("[{answer},{done}]")), ["message"]);
        let stripped = strip(&with_marker(&format!("[{done},{answer}]"))).unwrap();
        assert_eq!(stripped.items, []);
    }
}

#[test]
fn approval_is_stripped_once_its_call_was_made() {
    let call = |request: &str| {
        format!(r#"{{"type":"mcp_call","id":"mcp_1","approval_request_id":"{request}"}}"#)
    };
    assert_eq!(left_of(&format!("[{APPROVAL},{}]", call("mcpr_1"))), Vec::<String>::new());
    let other = format!("[{APPROVAL},{}]", call("mcpr_2"));
    assert_eq!(left_of(&other), ["mcp_approval_response"]);
}

#[test]
fn policy_drops_new_answers_of_two_kinds() {
    let output = r#"{"type":"function_call_output","call_id":"c","output":""}"#;
    let given = with_marker(&format!("[{APPROVAL},{output},{SHELL_OUTPUT}]"));
    let stripped = strip_with(&given, OnAnswer::Drop).unwrap();
    assert_eq!(stripped.body, with_marker(&format!("[{output}]")));
    assert_eq!(strip(&given).unwrap().items, []);
}

#[test]
fn items_of_the_servers_own_tools_are_stripped() {
    let input = r#"[
        {"type":"mcp_list_tools","id":"mcpl_1","server_label":"s","tools":[]},
        {"type":"tool_search_output","id":"tso_1","call_id":null,"tools":[]},
        {"type":"program_output","id":"progo_1","call_id":"c","result":"1"},
        {"type":"multi_agent_call_output","id":"maco_1","call_id":"c","output":[]}]"#;
    assert_eq!(strip(&with_marker(input)).unwrap().items.len(), 4);
    let answer = r#"[{"type":"tool_search_output","id":"tso_1","call_id":"c","tools":[]}]"#;
    assert_eq!(left_of(answer), ["tool_search_output"]);
}

#[test]
fn outputs_of_other_calls_stay() {
    let pairs = ["function", "custom_tool", "shell", "apply_patch", "computer"];
    for kind in pairs {
        let input = format!(
            r#"[{{"type":"{kind}_call","id":"x_1","call_id":"call_1"}},
                {{"type":"{kind}_call_output","call_id":"call_1","output":""}}]"#
        );
        assert_eq!(left_of(&input), [format!("{kind}_call_output")]);
    }
}

#[test]
fn other_kinds_stay() {
    let input = r#"[
        {"type":"message","id":"msg_1","role":"assistant","content":[]},
        {"type":"item_reference","id":"fc_1"},
        {"type":"compaction","encrypted_content":"gAAAA"},
        {"type":"acme:telemetry","n":1}]"#;
    let given = with_marker(input);
    assert_eq!(strip(&given).unwrap().body, given);
}

#[test]
fn output_alone_stays() {
    let given = with_marker(r#"[{"type":"function_call_output","call_id":"c","output":""}]"#);
    let stripped = strip(&given).unwrap();
    assert_eq!((stripped.body, stripped.items), (given, vec![]));
}

#[test]
fn text_input_is_unchanged() {
    let given = with_marker(r#""Hello""#);
    assert_eq!(strip(&given).unwrap().body, given);
}

#[test]
fn second_strip_changes_nothing() {
    let once = strip(&with_marker(REPLAYED)).unwrap().body;
    let twice = strip(&once).unwrap();
    assert_eq!((twice.body, twice.items), (once, vec![]));
}

#[test]
fn invalid_request_is_an_error() {
    assert!(matches!(strip(&Bytes::from_static(b"[]")), Err(StripError::NotAnObject(_))));
    assert!(matches!(strip(&with_marker("[7]")), Err(StripError::Input(_))));
}

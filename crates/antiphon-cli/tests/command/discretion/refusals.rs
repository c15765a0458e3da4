//! Requests that are refused.

use serde_json::{Value, json};

use super::secrets::{Discreet, assert_refused, telling};

/// Bodies that no turn comes of, each with something secret in it.
fn refused() -> Vec<String> {
    let with = |field: &str, value: Value| {
        let mut ask = telling();
        ask[field] = value;
        ask.to_string()
    };
    vec![
        r#"{"input": "sesame"#.to_owned(),
        r#"["sesame"]"#.to_owned(),
        "sesame".to_owned(),
        with("input", json!({"text": "sesame"})),
        with("input", json!(["sesame"])),
        with(
            "input",
            json!([{"type": "function_call_output", "call_id": "call_5", "output": "sesame"}]),
        ),
        with("input", json!([{"type": "message", "content": "sesame"}])),
        with("metadata", json!("sesame")),
        with("metadata", json!({"key": "sesame".repeat(100)})),
        with("metadata", json!({"key": ["sesame"]})),
        with("tools", json!("sesame")),
        with("include", json!({"sesame": true})),
        with("conversation", json!(["sesame"])),
        with("conversation", json!({"id": ["sesame"]})),
        with("instructions", json!(["sesame"])),
        with("previous_response_id", json!("resp_unknown")),
    ]
}

#[test]
fn rejected_request_is_not_logged() {
    let gateway = Discreet::keyed("responses", "text");
    for body in refused() {
        assert_refused(&gateway.ask("POST", "/v1/responses", &body), 400);
    }
    for body in ["sesame", r#"{"items": "sesame"}"#, r#"{"metadata": "sesame"}"#] {
        assert_refused(&gateway.ask("POST", "/v1/conversations", body), 400);
    }
    gateway.ends_having_told(&["turn refused"]);
}

#[test]
fn rejected_history_is_not_logged() {
    let gateway = Discreet::rejecting();
    let message = |text: &str| json!({"role": "user", "content": text});
    let reasoning = |content: &str| {
        json!({"type": "reasoning", "id": "rs_1", "summary": [],
            "encrypted_content": content})
    };
    let histories = [
        json!([{"type": "function_call", "name": "echo", "arguments": "sesame"}]),
        telling()["input"].clone(),
        json!([message("sesame"), reasoning("sesame")]),
        json!([message("sesame"), reasoning(&"sesame".repeat(20)), message("sesame")]),
    ];
    for input in histories {
        let mut ask = telling();
        ask["input"] = input;
        for streamed in [false, true] {
            assert_refused(&gateway.turn(&ask, streamed), 400);
        }
    }
    gateway.ends_having_told(&["turn refused"]);
}

#[test]
fn wrong_key_is_not_repeated() {
    let gateway = Discreet::keyed("responses", "text");
    for key in ["sk-sesame-0123456789", "sesame", "sk-sesame-of-the-caller-not"] {
        for path in ["/v1/models", "/v1/conversations/conv_x"] {
            assert_refused(&gateway.ask_with(key, "GET", path, ""), 401);
        }
        assert_refused(&gateway.ask_with(key, "POST", "/v1/responses", telling().to_string()), 401);
    }
    gateway.ends_having_told(&[]);
}

#[test]
fn dependencies_do_not_log_bodies() {
    let gateway = Discreet::keyed("responses", "text");
    gateway.turn(&telling(), true);
    gateway.serving.signal("TERM");
    let (_, _, log) = gateway.serving.ended();
    let is_low = |line: &&str| line.contains(" TRACE ") || line.contains(" DEBUG ");
    let not_ours: Vec<_> =
        log.lines().filter(is_low).filter(|line| !line.contains("antiphon")).collect();
    assert!(not_ours.is_empty(), "{not_ours:#?}");
}

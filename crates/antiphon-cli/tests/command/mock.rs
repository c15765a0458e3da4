//! `antiphon mock`: a provider to test agents against.

use serde_json::{Value, json};

use crate::world::{Ended, Serving, World};

pub(crate) fn mock(args: &[&str]) -> World {
    command("mock", args)
}

fn command(name: &str, args: &[&str]) -> World {
    World::antiphon(&[&[name, "--listen", "127.0.0.1:0"], args].concat())
}

/// The status and the body that answer a request of someone with a key.
pub(crate) fn ask(provider: &Serving, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let answer = provider.ask_with(method, path, "authorization: Bearer any", &body.to_string());
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(json_in(&answer)).unwrap())
}

/// The body, which comes as one chunk: its size stands before it.
fn json_in(answer: &str) -> &str {
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let begin = body.find(['{', '[']).unwrap();
    let end = body.rfind(['}', ']']).unwrap();
    &body[begin..=end]
}

fn turn(provider: &Serving, body: &Value) -> (u16, Value) {
    ask(provider, "POST", "/v1/responses", body)
}

/// A conversation in which the same item was sent twice: the second turn's status.
fn sent_twice(provider: &Serving) -> u16 {
    let (_, conversation) = ask(provider, "POST", "/v1/conversations", &json!({}));
    let reply = json!({"type": "message", "id": "msg_1", "role": "user", "content": "Hello"});
    let body = json!({"model": "any", "conversation": conversation["id"], "input": [reply]});
    assert_eq!(turn(provider, &body).0, 200);
    turn(provider, &body).0
}

#[test]
fn strict_provider_refuses_duplicates() {
    let provider = mock(&[]).ready();
    assert_eq!(sent_twice(&provider), 400);
    let (_, log) = ask(&provider, "GET", "/log", &Value::Null);
    let message = log[2]["refusal"]["message"].as_str().unwrap();
    assert!(message.starts_with("Duplicate item found with id msg_1."), "{message}");
}

#[test]
fn lenient_provider_passes_resent_items_to_the_model() {
    let provider = mock(&["--lenient"]).ready();
    assert_eq!(sent_twice(&provider), 200);
    let (_, log) = ask(&provider, "GET", "/log", &Value::Null);
    assert_eq!(log[2]["twice"], json!(["the item msg_1", "user: Hello"]));
}

#[test]
fn sim_checks_requests_only_if_strict() {
    assert_eq!(sent_twice(&command("sim", &["--strict"]).ready()), 400);
    assert_eq!(sent_twice(&command("sim", &[]).ready()), 200);
}

/// The id of the first conversation.
fn first_id(args: &[&str]) -> Value {
    let (_, conversation) = ask(&mock(args).ready(), "POST", "/v1/conversations", &json!({}));
    conversation["id"].clone()
}

#[test]
fn only_equal_seeds_give_equal_ids() {
    assert_ne!(first_id(&[]), first_id(&[]));
    assert_eq!(first_id(&["--seed", "a"]), first_id(&["--seed", "a"]));
    assert_ne!(first_id(&["--seed", "a"]), first_id(&["--seed", "b"]));
}

#[test]
fn provider_stores_the_conversation() {
    let provider = mock(&[]).ready();
    let (_, first) = turn(&provider, &json!({"model": "any", "input": "My color is purple"}));
    let asked =
        json!({"model": "any", "previous_response_id": first["id"], "input": "Which color?"});
    let (status, second) = turn(&provider, &asked);
    assert_eq!(status, 200);
    assert_eq!(second["output"][0]["content"][0]["text"], "purple");
}

#[test]
fn script_is_played_first() {
    let script = r#"[{"answer": [{"message": "First"}]}, {"status": 503, "body": {}}]"#;
    let provider = mock(&["--script", "script.json"]).file("script.json", script).ready();
    let asked = json!({"model": "any", "input": "Hello"});
    let text = |answer: &Value| answer["output"][0]["content"][0]["text"].clone();
    assert_eq!(text(&turn(&provider, &asked).1), "First");
    assert_eq!(turn(&provider, &asked).0, 503);
    assert_eq!(text(&turn(&provider, &asked).1), "Noted.");
}

#[test]
fn profile_selects_another_provider() {
    let provider = mock(&["--profile", "azure"]).ready();
    let (status, body) = ask(&provider, "POST", "/v1/conversations", &json!({}));
    assert_eq!((status, &body["error"]["message"]), (404, &json!("Resource not found")));
}

#[test]
fn mock_prints_a_greeting_and_ends_on_a_signal() {
    let provider = mock(&[]).ready();
    provider.says("A strict provider");
    provider.says("/responses -H 'Authorization: Bearer any'");
    provider.signal("TERM");
    let (status, stdout, _) = provider.ended();
    assert!(status.success());
    assert_eq!(stdout, "");
}

#[test]
fn mock_rejects_invalid_arguments() {
    let no_script = "--script: script.json is not a valid script: entry 1 needs either 'answer' \
                     or 'status'";
    let missing = "--script: none.json cannot be read: No such file or directory (os error 2)";
    for (args, sentence) in [
        (["--on-abort", "half"], "--on-abort: 'half' is none of part, whole and nothing"),
        (["--profile", "x"], "--profile: 'x' is none of openai, azure and open-responses"),
        (["--script", "script.json"], no_script),
        (["--script", "none.json"], missing),
    ] {
        let ended = mock(&args).file("script.json", "[{}]").ends();
        let stderr = format!("error: {sentence}\n");
        assert_eq!(ended, Ended { code: Some(2), stdout: String::new(), stderr });
    }
    let ended = World::antiphon(&["mock", "--listen", "localhost"]).ends();
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("'localhost' is not an IP address with a port"));
}

//! An upstream that cannot read the reasoning that it made.

use antiphon_gateway::settings::Faults;
use antiphon_mock::Reply;
use http::StatusCode;
use serde_json::{Value, json};

use super::{ANTHROPIC, Dialect, immediate_retries};
use crate::support::{Client, MODES, Mode, Turn, World, ask, output};

/// What OpenAI answers since its keys have changed.
fn unverified() -> Reply {
    let body = json!({"error": {
        "message": "The encrypted content gAAA...c90= could not be verified.",
        "type": "invalid_request_error",
        "param": null,
        "code": "invalid_encrypted_content",
    }});
    Reply::json(StatusCode::BAD_REQUEST, &body)
}

/// What Anthropic answers of thinking that it does not take for its own.
fn unsigned() -> Reply {
    let message = "messages.1.content.0: Invalid `signature` in `thinking` block";
    let error = json!({"type": "invalid_request_error", "message": message});
    Reply::json(StatusCode::BAD_REQUEST, &json!({"type": "error", "error": error}))
}

/// A conversation in which the model has reasoned and called a tool, and its id.
async fn called(client: &Client, mode: Mode) -> (String, Turn) {
    let conversation = client.new_conversation().await;
    let echo = ask("Echo hello").field("reasoning", json!({"effort": "low"}));
    let called = client.turn(mode, &echo.within(&conversation)).await;
    (conversation, called)
}

#[tokio::test]
async fn rejected_reasoning_is_dropped_and_reported() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let (conversation, called) = called(&client, mode).await;
        let held = client.items(&conversation).await;
        world.script(unverified());

        let answer = json!([output(called.call_id(), "hello")]);
        let echoed = client.turn(mode, &ask(answer).within(&conversation)).await;

        assert_eq!(echoed.text(), "echo said: hello");
        let expected = ["user: Echo hello", r#"call echo {"text":"hello"}"#, "output: hello"];
        assert_eq!(world.view(2).await, expected);
        assert!(world.request(2).await.input()[1].get("id").is_none());
        let report = client.report(echoed.id()).await;
        assert_eq!(report["retries"], 0);
        let received = |at: usize, key: &str| report["repairs"][at][key].clone();
        assert_eq!(received(0, "fault"), "refused_reasoning");
        assert_eq!(received(0, "action"), "dropped");
        assert_eq!(received(0, "item_id"), called.item("reasoning")["id"]);
        assert_eq!(received(1, "fault"), "missing_reasoning");
        assert_eq!(received(1, "item_id"), called.item("function_call")["id"]);
        assert_eq!(
            echoed.header("antiphon-repairs"),
            Some("missing_reasoning=1, refused_reasoning=1")
        );
        assert_eq!(client.items(&conversation).await[..held.len()], held);
    }
}

#[tokio::test]
async fn thinking_with_a_rejected_signature_is_dropped() {
    let (api, _): Dialect = ANTHROPIC;
    for mode in MODES {
        let world = World::with(|settings| settings.upstreams[0].api = api).await;
        let client = world.client();
        let (conversation, called) = called(&client, mode).await;
        world.script(unsigned());

        let answer = json!([output(called.call_id(), "hello")]);
        let answer = ask(answer).field("reasoning", json!({"effort": "low"}));
        let echoed = client.turn(mode, &answer.within(&conversation)).await;

        assert_eq!(echoed.text(), "echo said: hello");
        let expected = ["user: Echo hello", r#"call echo {"text":"hello"}"#, "output: hello"];
        assert_eq!(world.view(2).await, expected);
        let repairs = echoed.header("antiphon-repairs").unwrap_or_default().to_owned();
        assert!(repairs.contains("refused_reasoning=1"), "{repairs}");
    }
}

#[tokio::test]
async fn second_rejection_passes_to_the_caller() {
    let world = World::new().await;
    let client = world.client();
    let (conversation, called) = called(&client, Mode::Whole).await;
    world.script(unverified());
    world.script(unverified());
    let answer = json!([output(called.call_id(), "hello")]);
    let refused = client.create(Mode::Whole, &ask(answer).within(&conversation)).await;
    assert_eq!(refused.status(), 400);
    assert_eq!(world.times_asked(), 3);
}

#[tokio::test]
async fn rejection_passes_if_no_reasoning_was_sent() {
    let world = World::new().await;
    let client = world.client();
    world.script(unverified());
    assert_eq!(client.create(Mode::Whole, &ask("Hello")).await.status(), 400);
    assert_eq!(world.times_asked(), 1);
}

#[tokio::test]
async fn rejection_passes_without_a_repair() {
    let world = World::with(|settings| settings.faults = Faults::Reject).await;
    let client = world.client();
    let (conversation, called) = called(&client, Mode::Whole).await;
    world.script(unverified());
    let answer = json!([output(called.call_id(), "hello")]);
    let refused = client.create(Mode::Whole, &ask(answer).within(&conversation)).await;
    assert_eq!(refused.status(), 400);
    assert_eq!(world.times_asked(), 2);
}

/// What was asked without stays so where it has to be asked again.
#[tokio::test]
async fn retries_do_not_resend_rejected_reasoning() {
    let world = World::with(|settings| settings.upstreams[0].retries = immediate_retries(1)).await;
    let client = world.client();
    let (conversation, called) = called(&client, Mode::Whole).await;
    world.script(unverified());
    world.script(Reply::sse(Vec::new()));
    let answer = json!([output(called.call_id(), "hello")]);
    let echoed = client.turn(Mode::Streamed, &ask(answer).within(&conversation)).await;
    assert_eq!(echoed.text(), "echo said: hello");
    assert_eq!(world.times_asked(), 4);
    let report = client.report(echoed.id()).await;
    assert_eq!(
        (&report["retries"], report["repairs"].as_array().map(Vec::len)),
        (&json!(1), Some(2))
    );
    assert_ne!(report["repairs"][0], Value::Null);
}

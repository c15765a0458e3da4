//! What cannot be answered is told, and the connection stays open.

use std::num::NonZeroU32;

use antiphon_gateway::settings::Rate;
use antiphon_mock::{Answer, Reply};
use http::StatusCode;
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use crate::support::{MODEL, SIM, Socket, World, ask, create, frames_until};

async fn still_answers(socket: &mut Socket) {
    assert_eq!(socket.turn(&ask("Hello").model(SIM)).await.status(), "completed");
}

#[tokio::test]
async fn invalid_event_gets_an_error() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    for (text, code, param) in [
        ("no JSON", "", json!("")),
        ("[]", "invalid_type", json!("")),
        ("{}", "missing_required_parameter", json!("type")),
        (r#"{"type":7}"#, "invalid_type", json!("type")),
        (r#"{"type":"response.cancel"}"#, "invalid_value", json!("type")),
        (r#"{"type":"response.create"}"#, "missing_required_parameter", json!("model")),
        (r#"{"type":"response.create","model":"sim"}"#, "missing_required_parameter", json!("")),
        (r#"{"type":"response.create","model":"sim","input":7}"#, "invalid_type", json!("input")),
    ] {
        socket.send_message(Message::text(text)).await;
        let (status, error) = socket.refused().await;
        assert_eq!(
            (status, &error["code"], &error["param"]),
            (400, &json!(code), &param),
            "{text}"
        );
    }
    socket.send_message(Message::binary(b"{}".to_vec())).await;
    assert_eq!(socket.refused().await.0, 400);
    still_answers(&mut socket).await;
}

#[tokio::test]
async fn unsupported_request_gets_an_error() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    for (field, value) in [("stream", false), ("background", true)] {
        socket.send(&create(&ask("Hello").field(field, value))).await;
        let (status, error) = socket.refused().await;
        assert_eq!((status, &error["param"]), (400, &json!(field)));
        assert_eq!(error["code"], "unsupported_parameter");
    }
    let input = json!([{"role": "user", "content": "Be brief"}]);
    let steer = json!({"type": "response.steer", "previous_response_id": "resp_x", "input": input});
    socket.send(&steer).await;
    let failed = socket.event().await;
    assert_eq!(failed.name, "response.steer.failed");
    assert_eq!(failed.json["error"]["code"], "steering_not_supported");
    assert_eq!(failed.json["steer"], json!({"previous_response_id": "resp_x", "input": input}));
    still_answers(&mut socket).await;
}

#[tokio::test]
async fn upstream_rejection_passes_unchanged() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    let body = json!({"error": {
        "type": "tokens", "code": "rate_limit_exceeded", "message": "Too much.", "param": "",
        "more": [1],
    }});
    let refusal = Reply::json(StatusCode::TOO_MANY_REQUESTS, &body).header("retry-after", "7");
    world.script(refusal);

    socket.send(&create(&ask("Hello"))).await;

    let event = socket.error().await;
    assert_eq!((&event["status"], &event["error"]), (&json!(429), &body["error"]));
    assert_eq!(event["headers"]["retry-after"], "7");
    still_answers(&mut socket).await;
}

#[tokio::test]
async fn interrupted_turn_ends_as_failed() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    let answer = Answer::new(MODEL).message("Once upon a time");
    let until = frames_until(&answer, "response.output_text.delta");
    world.script(Reply::sse(answer.frames()).break_after(until));

    let failed = socket.turn(&ask("Tell me a tale").unstored()).await;

    assert_eq!(failed.status(), "failed");
    socket.send(&create(&ask("Go on").unstored().after(failed.id()))).await;
    assert_eq!(socket.refused().await.1["code"], "previous_response_not_found");
    still_answers(&mut socket).await;
}

#[tokio::test]
async fn rate_limit_sends_retry_after() {
    let number = |count| NonZeroU32::new(count).expect("it is not zero");
    let rate = Rate { per_second: number(1), burst: number(1) };
    let world = World::with(|settings| settings.limits.rate = Some(rate)).await;
    let mut socket = world.client().socket().await;
    let asked = create(&ask("Hello").model(SIM));

    let error = loop {
        socket.send(&asked).await;
        let event = socket.event_or_error().await;
        match event["type"].as_str() {
            Some("error") => break event,
            _ => drop(socket.until("response.completed").await),
        }
    };

    assert_eq!(
        (&error["status"], &error["error"]["code"]),
        (&json!(429), &json!("rate_limit_exceeded"))
    );
    assert!(error["headers"]["retry-after-ms"].is_string(), "{error}");
}

#[tokio::test]
async fn too_many_open_turns_get_an_error() {
    let world = World::with(|settings| settings.limits.max_open_turns = 1).await;
    let client = world.client();
    let answer = Answer::new(MODEL).message("Once upon a time");
    let until = frames_until(&answer, "response.output_text.delta");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(until));
    let open = client.stream(&ask("Tell me a tale")).await;
    let mut socket = client.socket().await;

    socket.send(&create(&ask("Hello").model(SIM))).await;
    assert_eq!(socket.refused().await.0, 429);

    exchange.release_all();
    open.ended().await;
    still_answers(&mut socket).await;
    still_answers(&mut socket).await;
}

#[tokio::test]
async fn too_long_message_ends_the_connection() {
    let world = World::with(|settings| settings.limits.max_body_bytes = 64 << 10).await;
    let mut socket = world.client().socket().await;

    socket.send(&create(&ask("x".repeat(1 << 20)))).await;

    let (status, error) = socket.refused().await;
    assert_eq!((status, &error["code"]), (413, &json!("request_too_large")));
    assert_eq!(socket.closed().await, CloseCode::Size);
    assert_eq!(world.times_asked(), 0);
}

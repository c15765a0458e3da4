//! Refusals and silence before an answer begins.

use std::time::Duration;

use antiphon_mock::{Answer, Reply};
use http::StatusCode;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::support::{MODEL, MODES, World, ask, frames_until};

/// What upstreams refuse with, in the form that callers read.
fn refusals() -> Vec<(StatusCode, Value)> {
    let error = |kind: &str| {
        json!({
            "error": {"message": "No.", "type": kind, "param": "", "code": "because", "n": 1.50},
            "weight": 1.50,
        })
    };
    vec![
        (StatusCode::BAD_REQUEST, error("invalid_request_error")),
        (StatusCode::UNAUTHORIZED, error("invalid_request_error")),
        (StatusCode::NOT_FOUND, error("not_found")),
        (StatusCode::TOO_MANY_REQUESTS, error("too_many_requests")),
        (StatusCode::INTERNAL_SERVER_ERROR, error("server_error")),
    ]
}

#[tokio::test]
async fn rejection_passes_unchanged_and_stores_nothing() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |text: &str| ask(text).within(&conversation);
        client.turn(mode, &say("My color is purple")).await;
        let held = client.items(&conversation).await;

        for (status, body) in refusals() {
            world.script(Reply::json(status, &body).header("retry-after", "7"));
            let answer = client.create(mode, &say("Hello")).await;

            assert_eq!(answer.status(), status.as_u16());
            assert_eq!(*answer.body(), body.to_string());
            assert_eq!(answer.header("retry-after"), Some("7"));
            assert_eq!(answer.header("content-type"), Some("application/json"));
            assert_eq!(client.items(&conversation).await, held);
        }

        let recalled = client.turn(mode, &say("What is my color?")).await;
        assert_eq!(recalled.text(), "purple");
        assert_eq!(world.last_view().await.len(), 3);
    }
}

#[tokio::test]
async fn missing_upstream_is_a_server_error() {
    let vacant = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", vacant.local_addr().unwrap());
    drop(vacant);
    let world = World::with(|settings| {
        settings.upstreams[0].url = url.parse().unwrap();
    })
    .await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    for mode in MODES {
        let answer = client.create(mode, &ask("Hello").within(&conversation)).await;
        answer.server_error();
    }
    assert_eq!(client.items(&conversation).await, [] as [Value; 0]);
}

#[tokio::test]
async fn html_answer_is_a_server_error() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |text: &str| ask(text).within(&conversation);
        let page = "<html><h1>It works!</h1></html>";
        world.script(Reply::new(StatusCode::OK, "text/html; charset=utf-8", page));

        let answer = client.create(mode, &say("Hello")).await;

        answer.server_error();
        assert_eq!(client.items(&conversation).await, [] as [Value; 0]);
        assert_eq!(client.turn(mode, &say("Hello")).await.text(), "Noted.");
    }
}

#[tokio::test]
async fn silent_upstream_times_out() {
    let world = World::with(|settings| {
        settings.upstreams[0].first_byte_timeout = Duration::from_millis(50);
        settings.upstreams[0].idle_timeout = Duration::from_millis(50);
    })
    .await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);
    let answer = Answer::new(MODEL).message("Hello there");

    for mode in MODES {
        world.script(Reply::sse(answer.frames()).withhold_head());
        client.create(mode, &say("Hello")).await.server_error();
    }
    let begun = frames_until(&answer, "response.output_text.delta");
    world.script(Reply::sse(answer.frames()).hang_after(begun));
    let turn = client.turn(MODES[1], &say("Hello")).await;

    assert_eq!(turn.status(), "failed");
    assert_eq!(client.items(&conversation).await, [] as [Value; 0]);
}

#[tokio::test]
async fn callers_headers_reach_the_upstream() {
    let world = World::new().await;
    let client = world.client().with_header("openai-organization", "org-1");
    client.respond(&ask("Hello")).await;
    let request = world.request(0).await;
    assert_eq!(request.authorization(), Some("Bearer token-of-alice"));
    assert_eq!(request.headers["openai-organization"], "org-1");
    assert_eq!(request.headers["content-type"], "application/json");
    assert_eq!(request.path, "/v1/responses");
}

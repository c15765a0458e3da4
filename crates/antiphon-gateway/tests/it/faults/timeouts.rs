//! How long an upstream is waited for.

use std::time::Duration;

use antiphon_gateway::settings::UpstreamSettings;
use antiphon_mock::{Answer, Frame, Reply};
use http::StatusCode;
use serde_json::json;
use tokio::net::TcpListener;

use crate::support::{MODEL, MODES, Mode, World, ask, text};

const SHORT: Duration = Duration::from_millis(50);
/// Short, and long enough for the headers of an answer to come before.
const AFTER_HEADERS: Duration = Duration::from_millis(300);

async fn world(change: impl FnOnce(&mut UpstreamSettings)) -> World {
    World::with(|settings| change(&mut settings.upstreams[0])).await
}

fn greeting() -> Reply {
    Reply::sse(Answer::new(MODEL).message("Hello there").frames())
}

/// What the caller is told, however it asked.
async fn receive(world: &World, mode: Mode) -> (u16, String) {
    match world.client().attempt(mode, &ask("Hello")).await {
        Ok(turn) => (200, text(&turn.response["error"]["message"]).to_owned()),
        Err(refused) => (refused.status(), refused.server_error()),
    }
}

#[tokio::test]
async fn first_byte_timeout_ends_the_answer() {
    for mode in MODES {
        let world = world(|upstream| upstream.first_byte_timeout = AFTER_HEADERS).await;
        let sentence = "The upstream did not begin to answer within 300ms.".to_owned();
        world.script(greeting().withhold_head());
        assert_eq!(receive(&world, mode).await, (504, sentence.clone()));
        world.script(greeting().gated());
        let status = if mode == Mode::Whole { 504 } else { 200 };
        assert_eq!(receive(&world, mode).await, (status, sentence));
    }
}

/// An answer that is not streamed has no byte before its end, so only the total limit applies.
#[tokio::test]
async fn whole_answer_has_only_the_total_limit() {
    let world = world(|upstream| {
        upstream.first_byte_timeout = SHORT;
        upstream.total_timeout = AFTER_HEADERS;
        upstream.always_stream = Some(false);
    })
    .await;
    let sentence = "The upstream's answer was not complete after 300ms.".to_owned();
    for reply in [greeting().withhold_head(), greeting().gated()] {
        world.script(reply);
        assert_eq!(receive(&world, Mode::Whole).await, (504, sentence.clone()));
    }
}

#[tokio::test]
async fn idle_timeout_ends_the_answer() {
    for mode in MODES {
        let world = world(|upstream| upstream.idle_timeout = SHORT).await;
        world.script(greeting().hang_after(3));
        let status = if mode == Mode::Whole { 504 } else { 200 };
        let sentence = "The upstream's answer stopped: nothing came for 50ms.".to_owned();
        assert_eq!(receive(&world, mode).await, (status, sentence));
    }
}

/// Comments keep an answer alive, but not for ever.
#[tokio::test]
async fn total_timeout_ends_the_answer() {
    for mode in MODES {
        let world = world(|upstream| upstream.total_timeout = AFTER_HEADERS).await;
        let comments = std::iter::repeat_n(Frame::raw(": still there\n\n"), 1000);
        world.script(Reply::sse(comments).hang_after(999));
        let status = if mode == Mode::Whole { 504 } else { 200 };
        let sentence = "The upstream's answer was not complete after 300ms.".to_owned();
        assert_eq!(receive(&world, mode).await, (status, sentence));
    }
}

/// A peer that accepts, and says nothing where TLS is to begin.
#[tokio::test]
async fn connecting_includes_tls_and_is_retried() {
    for mode in MODES {
        let silent = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = silent.local_addr().unwrap();
        let connections = tokio::spawn(async move {
            [silent.accept().await.unwrap(), silent.accept().await.unwrap()]
        });
        let world = world(|upstream| {
            upstream.url = format!("https://{address}/v1").parse().unwrap();
            upstream.connect_timeout = SHORT;
            upstream.retries = super::immediate_retries(1);
        })
        .await;
        let sentence = "The upstream could not be reached: no connection was made within 50ms.";
        assert_eq!(receive(&world, mode).await, (502, sentence.to_owned()));
        drop(connections.await.unwrap());
    }
}

#[tokio::test]
async fn timeout_is_not_retried() {
    let world = world(|upstream| {
        upstream.first_byte_timeout = SHORT;
        upstream.retries = super::immediate_retries(2);
    })
    .await;
    world.script(greeting().withhold_head());
    assert_eq!(receive(&world, Mode::Whole).await.0, 504);
    assert_eq!(world.times_asked(), 1);
}

#[tokio::test]
async fn retries_end_at_the_total_timeout() {
    let world = world(|upstream| {
        upstream.total_timeout = Duration::from_mins(1);
        upstream.retries = super::distant_retries(2);
    })
    .await;
    let body = json!({"error": {"message": "Not now.", "type": "server_error"}});
    world.script(Reply::json(StatusCode::SERVICE_UNAVAILABLE, &body));
    assert_eq!(receive(&world, Mode::Whole).await, (503, "Not now.".to_owned()));
    assert_eq!(world.times_asked(), 1);
}

/// A status is known before the body that explains it.
#[tokio::test]
async fn missing_error_body_does_not_hide_the_status() {
    for mode in MODES {
        let world = world(|upstream| upstream.first_byte_timeout = AFTER_HEADERS).await;
        let refusal = Reply::json(StatusCode::BAD_GATEWAY, &json!({"error": {}})).gated();
        world.script(refusal);
        let message = "The upstream refused the request with status 502 Bad Gateway.";
        assert_eq!(receive(&world, mode).await, (502, message.to_owned()));
    }
}

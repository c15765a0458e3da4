//! Callers that send nothing, and callers that take nothing.

use std::time::Duration;

use antiphon_gateway::settings::OnDisconnect;
use antiphon_mock::Reply;
use serde_json::json;

use crate::support::{Raw, World, ask, item_event, soon, telling, within_item};

const SHORT: Duration = Duration::from_millis(200);

#[tokio::test]
async fn missing_body_times_out() {
    let world = World::with(|settings| settings.limits.body_timeout = SHORT).await;
    let mut caller = world.connect().await;

    caller.post("/v1/responses", 1000, r#"{"model":"#).await;

    let heard = caller.read_to_end().await;
    assert!(heard.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{heard}");
    assert!(heard.contains(r#""code":"request_timeout""#), "{heard}");
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn slow_body_times_out() {
    let world = World::with(|settings| settings.limits.body_timeout = SHORT).await;
    for (path, content_type) in [
        ("/v1/responses", "application/json"),
        ("/v1/files", "application/octet-stream"),
        ("/v1/files", "multipart/form-data; boundary=x"),
    ] {
        let mut caller = world.connect().await;
        caller
            .send(&format!(
                "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
                 content-type: {content_type}\r\ncontent-length: 30000000\r\n\r\n"
            ))
            .await;
        let heard = caller.drip(SHORT / 20).await;
        assert!(heard.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{path}: {heard}");
        assert!(heard.contains(r#""code":"request_timeout""#), "{heard}");
    }
}

#[tokio::test]
async fn missing_head_times_out() {
    let world = World::with(|settings| settings.limits.header_timeout = SHORT).await;
    for message in ["", "POST /v1/responses HTTP/1.1\r\nhost: loca"] {
        let mut caller = world.connect().await;
        caller.send(message).await;
        assert_eq!(caller.read_to_end().await, "", "{message:?}");
    }
}

#[tokio::test]
async fn idle_connection_times_out() {
    let world = World::with(|settings| settings.limits.header_timeout = SHORT).await;
    let mut caller = world.connect().await;
    caller.send("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    assert!(caller.read_to_end().await.ends_with("\r\n\r\nok"));
}

/// How long one event's text is.
const TEXT: usize = 64 << 10;
/// How many of them do not fit between the gateway and a caller that takes nothing: systems send up
/// to four megabytes ahead.
const BEYOND_A_CALLER: usize = 128;
/// How many of them do not fit between an upstream and that caller: systems take in up to 32
/// megabytes ahead where they are read quickly at first.
const BEYOND_AN_UPSTREAM: usize = 1024;

/// A tale of so many events.
fn long_tale(events: usize) -> Reply {
    let item = json!({
        "type": "message",
        "id": "msg_tale",
        "role": "assistant",
        "status": "in_progress",
        "content": [],
    });
    let delta = json!({"content_index": 0, "delta": "x".repeat(TEXT), "logprobs": []});
    let part = json!({
        "content_index": 0,
        "part": {"type": "output_text", "text": "", "annotations": [], "logprobs": []},
    });
    let begin = [
        item_event("added", 0, &item),
        within_item("response.content_part.added", 0, "msg_tale", part),
    ];
    let deltas = (0..events)
        .map(|_| within_item("response.output_text.delta", 0, "msg_tale", delta.clone()));
    Reply::sse(telling(begin.into_iter().chain(deltas), &[]))
}

/// A caller that reads until the tale has been announced, and no further; the response's id.
async fn start_tale(world: &World) -> (Raw, String) {
    let body = ask("Tell me a tale").field("stream", true).body().to_string();
    let mut caller = world.connect().await;
    caller.post("/v1/responses", body.len(), &body).await;
    caller.read_until("\"id\":\"").await;
    let id = caller.read_until("\"").await;
    (caller, id.trim_end_matches('"').to_owned())
}

#[tokio::test]
async fn slow_reader_backpressures_then_disconnects() {
    let world = World::with(|settings| settings.limits.client_timeout = SHORT).await;
    let exchange = world.script(long_tale(BEYOND_AN_UPSTREAM));

    let (caller, id) = start_tale(&world).await;

    world.wait_for_disconnect(&exchange).await;
    assert_eq!(world.anonymous_client().wait_until_settled(&id).await["status"], "cancelled");
    drop(caller);
}

#[tokio::test]
async fn slow_reader_does_not_block_a_finishing_turn() {
    let world = World::with(|settings| {
        settings.limits.client_timeout = SHORT;
        settings.on_disconnect = OnDisconnect::Finish;
    })
    .await;
    let exchange = world.script(long_tale(BEYOND_A_CALLER));

    let (caller, id) = start_tale(&world).await;

    world.wait_until_read(&exchange).await;
    assert_eq!(world.anonymous_client().wait_until_settled(&id).await["status"], "completed");
    drop(caller);
}

#[tokio::test]
async fn slow_reader_gets_the_full_answer() {
    let world = World::new().await;
    let exchange = world.script(long_tale(BEYOND_A_CALLER));
    let (mut caller, _) = start_tale(&world).await;
    soon("some of it waits for the caller", exchange.wait_for_sent(16)).await;

    let heard = caller.discard_until("data: [DONE]\n\n\r\n0\r\n\r\n").await;

    assert!(heard > TEXT * BEYOND_A_CALLER, "{heard} bytes");
    world.wait_until_read(&exchange).await;
}

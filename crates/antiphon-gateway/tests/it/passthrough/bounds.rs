//! How long what passes may take, and how much of it there may be.

use std::num::NonZeroU32;
use std::time::Duration;

use antiphon_gateway::settings::Rate;
use antiphon_mock::Reply;
use http::{Method, StatusCode};
use http_body_util::BodyExt as _;

use super::{read_answer, request, send_request};
use crate::support::{Raw, World, soon};

const SHORT: Duration = Duration::from_millis(200);

#[tokio::test]
async fn unreachable_upstream_is_a_502() {
    let world = World::with(|settings| {
        settings.upstreams[0].url = "http://127.0.0.1:1/v1".parse().expect("it is a URL");
    })
    .await;
    let answer = read_answer(request(&world, Method::GET, "/v1/files"), "").await;
    assert_eq!(answer.status(), 502);
    assert!(answer.server_error().starts_with("The upstream could not be reached: "));
}

#[tokio::test]
async fn closed_connection_is_a_502() {
    let world = World::new().await;
    world.script(Reply::hangup());
    assert_eq!(
        read_answer(request(&world, Method::POST, "/v1/embeddings"), "{}").await.status(),
        502
    );
    assert_eq!(world.times_asked(), 1);
}

#[tokio::test]
async fn silent_upstream_is_a_504() {
    let world = World::with(|settings| settings.upstreams[0].first_byte_timeout = SHORT).await;
    world.script(Reply::new(StatusCode::OK, "text/plain", "late").withhold_head());
    let answer = read_answer(request(&world, Method::GET, "/v1/files"), "").await;
    assert_eq!(answer.status(), 504);
    assert_eq!(answer.server_error(), "The upstream did not begin to answer within 200ms.");
}

#[tokio::test]
async fn interrupted_answer_looks_incomplete() {
    let world = World::with(|settings| settings.upstreams[0].idle_timeout = SHORT).await;
    let pieces = || Reply::new(StatusCode::OK, "text/plain", "").chunks(["one", "two"]);
    for reply in [pieces().hang_after(1), pieces().break_after(1)] {
        world.script(reply);
        let answer = send_request(request(&world, Method::GET, "/v1/files/f/content"), "").await;
        assert!(soon("it ends", answer.into_body().collect()).await.is_err());
    }
}

#[tokio::test]
async fn too_large_body_of_any_type_is_rejected() {
    let world = World::with(|settings| settings.limits.max_body_bytes = 1000).await;
    for content_type in
        ["application/json", "application/octet-stream", "multipart/form-data; boundary=x"]
    {
        let asked = request(&world, Method::POST, "/v1/files").header("content-type", content_type);
        let refused = read_answer(asked, "x".repeat(1500)).await.refused();
        assert_eq!(refused.status, 413, "{content_type}");
        assert_eq!(refused.body["error"]["message"], "The request's body is over 1000 bytes.");
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn body_of_unknown_length_is_cut_at_the_limit() {
    let world = World::with(|settings| settings.limits.max_body_bytes = 1000).await;
    let mut caller = world.connect().await;
    let piece = format!("400\r\n{}\r\n", "x".repeat(1024));
    caller
        .send(&format!(
            "POST /v1/files HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\
             content-type: application/octet-stream\r\nconnection: close\r\n\r\n{piece}0\r\n\r\n"
        ))
        .await;
    let heard = caller.read_to_end().await;
    assert!(heard.starts_with("HTTP/1.1 413 "), "{heard}");
    assert!(heard.contains(r#""code":"request_too_large""#), "{heard}");
}

/// A caller that announces more than it sends.
async fn slow(world: &World, content_type: &str) -> Raw {
    let mut caller = world.connect().await;
    caller
        .send(&format!(
            "POST /v1/files HTTP/1.1\r\nhost: localhost\r\ncontent-type: {content_type}\r\n\
             content-length: 100\r\n\r\nbegin"
        ))
        .await;
    caller
}

#[tokio::test]
async fn missing_body_times_out() {
    let world = World::with(|settings| settings.limits.body_timeout = SHORT).await;
    for content_type in
        ["application/json", "application/octet-stream", "multipart/form-data; boundary=x"]
    {
        let heard = slow(&world, content_type).await.read_to_end().await;
        assert!(heard.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{heard}");
        assert!(heard.contains(r#""code":"request_timeout""#), "{heard}");
    }
}

#[tokio::test]
async fn passed_request_counts_as_an_open_turn() {
    let world = World::with(|settings| settings.limits.max_open_turns = 1).await;
    let stream = Reply::new(StatusCode::OK, "text/plain", "").chunks(["one", "two"]);
    let exchange = world.script(stream.hang_after(1));
    let open = send_request(request(&world, Method::GET, "/v1/files"), "").await;
    assert_eq!(read_answer(request(&world, Method::GET, "/v1/files"), "").await.status(), 429);
    assert_eq!(world.times_asked(), 1);
    exchange.release(1);
    soon("it ends", open.into_body().collect()).await.expect("it is whole");
}

#[tokio::test]
async fn open_requests_per_upstream_are_limited() {
    let world = World::with(|settings| settings.upstreams[0].max_open = Some(1)).await;
    let stream = Reply::new(StatusCode::OK, "text/plain", "").chunks(["one", "two"]);
    world.script(stream.hang_after(1));
    let open = send_request(request(&world, Method::GET, "/v1/files"), "").await;
    let refused = read_answer(request(&world, Method::GET, "/v1/files"), "").await.refused();
    assert_eq!(
        (refused.status, &refused.body["error"]["code"]),
        (429, &"rate_limit_exceeded".into())
    );
    drop(open);
}

#[tokio::test]
async fn passed_requests_have_the_gateways_rate_limit() {
    let one = NonZeroU32::MIN;
    let rate = Rate { per_second: one, burst: one };
    let world = World::with(|settings| settings.limits.rate = Some(rate)).await;
    let limit = "x-ratelimit-limit-requests";
    world.script(Reply::new(StatusCode::OK, "text/plain", "").header(limit, "5000"));
    let answer = send_request(request(&world, Method::GET, "/v1/files"), "").await;
    let received: Vec<_> = answer.headers().get_all(limit).iter().collect();
    assert_eq!(received, ["1"]);
    assert_eq!(read_answer(request(&world, Method::GET, "/v1/files"), "").await.status(), 429);
    assert_eq!(world.times_asked(), 1);
}

#[tokio::test]
async fn slow_reader_backpressures_then_is_dropped() {
    let world = World::with(|settings| settings.limits.client_timeout = SHORT).await;
    let much = (0..1024).map(|_| "x".repeat(64 << 10));
    let exchange = world.script(Reply::new(StatusCode::OK, "text/plain", "").chunks(much));
    let mut caller = world.connect().await;
    caller.send("GET /v1/files/f/content HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    caller.read_until("\r\n\r\n").await;
    world.wait_for_disconnect(&exchange).await;
    drop(caller);
}

#[tokio::test]
async fn shutdown_waits_for_open_answers() {
    let mut world = World::with(|settings| settings.shutdown_grace = Duration::ZERO).await;
    let stream = Reply::new(StatusCode::OK, "text/plain", "").chunks(["one", "two"]);
    let exchange = world.script(stream.hang_after(1));
    let open = send_request(request(&world, Method::GET, "/v1/files"), "").await;
    let stopping = world.stop();
    assert!(soon("it ends", open.into_body().collect()).await.is_err(), "it is cut");
    world.wait_for_disconnect(&exchange).await;
    stopping.ended().await;
}

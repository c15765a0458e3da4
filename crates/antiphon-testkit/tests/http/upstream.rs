//! The server: its log, its answers, and the test's control over its replies.

use crate::peer::{fetch, post, try_post};
use antiphon_mock::{Answer, Frame, Outcome, Reply};
use antiphon_testkit::FakeUpstream;
use bytes::Bytes;
use http::StatusCode;
use serde_json::{Value, json};

const HELLO: &str = r#"{"model":"fake-model","input":"hello","store":false,"stream":true,
    "include":["reasoning.encrypted_content"],"acme_option":1}"#;

fn frames() -> Vec<Frame> {
    Answer::new("fake-model").message("Hello there").frames()
}

fn wire(frames: &[Frame]) -> Vec<Bytes> {
    frames.iter().map(|frame| frame.bytes().clone()).collect()
}

#[tokio::test]
async fn request_is_recorded_with_its_verdict() {
    let upstream = FakeUpstream::start().await;
    let reply = post(&upstream, "/responses", HELLO).await;
    assert_eq!(reply.header("content-type"), Some("text/event-stream; charset=utf-8"));
    let request = upstream.request(0).await;
    assert_eq!(request.path, "/v1/responses");
    assert_eq!(request.raw, HELLO);
    assert_eq!(request.body["acme_option"], 1);
    assert_eq!(request.authorization(), Some("Bearer key-1"));
    assert_eq!(request.verdict, Ok(()));
    assert_eq!(upstream.requests().len(), 1);
    assert_eq!(upstream.refusals(), []);
}

#[tokio::test]
async fn default_model_streams_or_sends_json() {
    let upstream = FakeUpstream::start().await;
    let (chunks, whole) = post(&upstream, "/responses", HELLO).await.chunks().await;
    assert!(whole);
    assert!(chunks.iter().all(|chunk| chunk.ends_with(b"\n\n")));
    assert!(chunks[0].starts_with(b"event: response.created\ndata: {"));
    assert_eq!(chunks.last().unwrap(), "data: [DONE]\n\n");

    let folded = HELLO.replace("\"stream\":true", "\"stream\":false");
    let reply = post(&upstream, "/responses", folded).await;
    assert_eq!(reply.header("content-type"), Some("application/json"));
    let response = reply.json().await;
    assert_eq!(response["output"][0]["content"][0]["text"], "Noted.");
}

#[tokio::test]
async fn refused_request_gets_the_error_body() {
    let upstream = FakeUpstream::start().await;
    let reply = post(&upstream, "/responses", r#"{"input":"hello"}"#).await;
    assert_eq!(reply.status(), 400);
    let error = reply.json().await;
    assert_eq!(error["error"]["message"], "Missing required parameter: 'model'.");
    assert_eq!(error, upstream.refusals()[0].body());

    let error = post(&upstream, "/responses", "{not json").await.json().await;
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("We could not parse the JSON body of your request."));
    assert_eq!(upstream.request(1).await.body, Value::Null);
}

#[tokio::test]
async fn scripted_replies_precede_the_default_model() {
    let upstream = FakeUpstream::start().await;
    let busy = json!({"error": {"message": "Slow down.", "type": "too_many_requests"}});
    upstream.script(Reply::json(StatusCode::TOO_MANY_REQUESTS, &busy).header("retry-after", "7"));
    upstream.script(Reply::new(StatusCode::BAD_GATEWAY, "text/html", "<h1>Bad gateway</h1>"));

    let first = post(&upstream, "/responses", HELLO).await;
    assert_eq!((first.status(), first.header("retry-after")), (429, Some("7")));
    assert_eq!(first.json().await, busy);
    let second = post(&upstream, "/responses", HELLO).await;
    assert_eq!((second.status(), second.header("content-type")), (502, Some("text/html")));
    assert_eq!(second.chunks().await.0, ["<h1>Bad gateway</h1>"]);
    assert_eq!(post(&upstream, "/responses", HELLO).await.status(), 200);
}

#[tokio::test]
async fn scripted_reply_ignores_the_verdict() {
    let upstream = FakeUpstream::start().await;
    let frames = frames();
    upstream.script(Reply::sse(frames.clone()));
    let reply = post(&upstream, "/responses", "{}").await;
    assert_eq!(reply.status(), 200);
    assert_eq!(reply.chunks().await, (wire(&frames), true));
    assert_eq!(upstream.refusals().len(), 1);
}

#[tokio::test]
async fn rechunk_cuts_every_n_bytes() {
    let upstream = FakeUpstream::start().await;
    let whole = wire(&frames()).concat();
    for size in [1, 7, whole.len(), whole.len() + 1] {
        let reply = Reply::new(StatusCode::OK, "text/event-stream", whole.clone());
        upstream.script(reply.rechunk(size));
        let (chunks, complete) = post(&upstream, "/responses", HELLO).await.chunks().await;
        assert!(complete);
        let expected: Vec<&[u8]> = whole.chunks(size).collect();
        assert_eq!(chunks, expected, "every {size} bytes");
    }
}

#[tokio::test]
async fn gated_reply_is_released_chunk_by_chunk() {
    let upstream = FakeUpstream::start().await;
    let frames = frames();
    let exchange = upstream.script(Reply::sse(frames.clone()).gated());
    let mut reply = post(&upstream, "/responses", HELLO).await;
    for frame in &frames {
        exchange.release(1);
        assert_eq!(reply.chunk().await.unwrap().unwrap(), frame.bytes());
    }
    assert_eq!(reply.chunk().await.unwrap(), None);
    assert_eq!(exchange.wait_for_outcome().await, Outcome::Delivered);
}

#[tokio::test]
async fn hanging_reply_continues_after_release() {
    let upstream = FakeUpstream::start().await;
    let frames = frames();
    let exchange = upstream.script(Reply::sse(frames.clone()).hang_after(2));
    let mut reply = post(&upstream, "/responses", HELLO).await;
    reply.chunk().await.unwrap();
    reply.chunk().await.unwrap();
    exchange.wait_for_sent(2).await;
    exchange.release_all();
    assert_eq!(reply.chunks().await, (wire(&frames[2..]), true));
}

#[tokio::test]
async fn aborted_reply_breaks_after_its_last_chunk() {
    let upstream = FakeUpstream::start().await;
    let frames = frames();
    let exchange = upstream.script(Reply::sse(frames.clone()).break_after(3));
    let reply = post(&upstream, "/responses", HELLO).await;
    assert_eq!(reply.chunks().await, (wire(&frames[..3]), false));
    assert_eq!(exchange.wait_for_outcome().await, Outcome::Aborted);
}

#[tokio::test]
async fn hanging_reply_can_be_aborted() {
    let upstream = FakeUpstream::start().await;
    let exchange = upstream.script(Reply::sse(frames()).hang_after(2));
    let mut reply = post(&upstream, "/responses", HELLO).await;
    reply.chunk().await.unwrap();
    reply.chunk().await.unwrap();
    exchange.abort();
    assert_eq!(reply.chunks().await, (Vec::new(), false));
    assert_eq!(exchange.wait_for_outcome().await, Outcome::Aborted);
}

#[tokio::test]
async fn reply_can_end_early_and_normally() {
    let upstream = FakeUpstream::start().await;
    let frames = frames();
    upstream.script(Reply::sse(frames.clone()).end_after(3));
    let reply = post(&upstream, "/responses", HELLO).await;
    assert_eq!(reply.chunks().await, (wire(&frames[..3]), true));
}

#[tokio::test]
async fn disconnect_in_the_body_is_observed() {
    let upstream = FakeUpstream::start().await;
    let exchange = upstream.script(Reply::sse(frames()).hang_after(1));
    let mut reply = post(&upstream, "/responses", HELLO).await;
    reply.chunk().await.unwrap();
    drop(reply);
    exchange.wait_for_disconnect().await;
}

#[tokio::test]
async fn disconnect_before_the_head_is_observed() {
    let upstream = FakeUpstream::start().await;
    let exchange = upstream.script(Reply::sse(frames()).withhold_head());
    tokio::select! {
        _ = post(&upstream, "/responses", HELLO) => panic!("the head is withheld"),
        _ = upstream.request(0) => {}
    }
    exchange.wait_for_disconnect().await;
}

#[tokio::test]
async fn withheld_head_is_sent_on_first_release() {
    let upstream = FakeUpstream::start().await;
    let exchange = upstream.script(Reply::sse(frames()).withhold_head());
    let (reply, ()) = tokio::join!(post(&upstream, "/responses", HELLO), async {
        upstream.request(0).await;
        exchange.release(0);
    });
    assert!(reply.chunks().await.1);
    assert_eq!(exchange.wait_for_outcome().await, Outcome::Delivered);
}

#[tokio::test]
async fn unknown_paths_can_be_scripted() {
    let upstream = FakeUpstream::start().await;
    upstream.script(Reply::json(StatusCode::OK, &json!({"object": "text_completion"})));
    let scripted = post(&upstream, "/completions", "{}").await;
    assert_eq!(scripted.json().await["object"], "text_completion");
    assert_eq!(upstream.request(0).await.path, "/v1/completions");
    assert_eq!(upstream.refusals(), []);

    let unknown = post(&upstream, "/completions", "{}").await;
    assert_eq!(unknown.status(), 404);
    let error = unknown.json().await;
    assert_eq!(error["error"]["message"], "Invalid URL (POST /v1/completions)");
}

#[tokio::test]
async fn large_request_is_read_completely() {
    let upstream = FakeUpstream::start().await;
    let text = "x".repeat(8 << 20);
    let body = json!({"model": "plain-model", "input": text, "store": false}).to_string();
    assert_eq!(post(&upstream, "/responses", body).await.status(), 200);
}

#[tokio::test]
async fn models_are_listed() {
    let upstream = FakeUpstream::start().await;
    let list = fetch(format!("{}/models", upstream.base_url())).await.json().await;
    let ids: Vec<&Value> = list["data"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert_eq!(ids, ["fake-model", "plain-model"]);
    assert_eq!(upstream.requests().len(), 0);
}

#[tokio::test]
async fn log_shows_requests_and_refusals() {
    let upstream = FakeUpstream::start().await;
    post(&upstream, "/responses", HELLO).await;
    post(&upstream, "/responses", "{}").await;
    let root = upstream.base_url().replace("/v1", "");
    let log = fetch(format!("{root}/log")).await.json().await;
    let body: Value = serde_json::from_str(HELLO).unwrap();
    let expected = json!({
        "authorization": "Bearer key-1",
        "token": "key-1",
        "traceparent": null,
        "body": body,
        "refusal": null,
    });
    assert_eq!(log[0], expected);
    assert_eq!(log[1]["refusal"]["status"], 400);
    assert_eq!(log[1]["refusal"]["param"], "model");

    let own = fetch(format!("{root}/log?token=key-1")).await.json().await;
    assert_eq!(own, log);
    let other = fetch(format!("{root}/log?token=key-2")).await.json().await;
    assert_eq!(other, json!([]));
}

#[tokio::test]
async fn hangup_closes_the_connection() {
    let upstream = FakeUpstream::start().await;
    let exchange = upstream.script(Reply::hangup());
    assert!(try_post(&upstream, "/responses", HELLO).await.is_err());
    assert_eq!(exchange.wait_for_outcome().await, Outcome::Aborted);
    assert_eq!(post(&upstream, "/responses", HELLO).await.status(), 200);
}

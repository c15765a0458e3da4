//! What passes, passes as it came, there and back.

use antiphon::dialect::UpstreamApi;
use antiphon_mock::Reply;
use http::{Method, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::json;

use super::{read_answer, request, send_request};
use crate::support::{World, soon};

#[tokio::test]
async fn request_reaches_the_upstream_byte_for_byte() {
    let world = World::new().await;
    let body = "{ \"model\" :\"fake-model\",\"input\": \"\\u00e9\",  \"odd\": 1e2 }";
    for method in [Method::POST, Method::PATCH, Method::PUT, Method::DELETE] {
        world.script(Reply::json(StatusCode::OK, &json!({})));
        let path = "/v1/vector_stores/vs%40_1/search?after=a%2Fb&after=c&empty=&flag";
        let asked = request(&world, method, path)
            .header("content-type", "application/json; charset=utf-8")
            .header("authorization", "Bearer token-of-alice")
            .header("idempotency-key", "once")
            .header("x-odd", "one")
            .header("x-odd", "two")
            .header("accept-encoding", "gzip, br")
            .header("user-agent", "a-client/1");
        assert_eq!(read_answer(asked, body).await.status(), 200);
    }
    for (index, method) in ["POST", "PATCH", "PUT", "DELETE"].into_iter().enumerate() {
        let came = world.request(index).await;
        assert_eq!(came.method, method);
        assert_eq!(came.path, "/v1/vector_stores/vs%40_1/search");
        assert_eq!(came.query.as_deref(), Some("after=a%2Fb&after=c&empty=&flag"));
        assert_eq!(came.raw, body);
        assert_eq!(came.headers["content-type"], "application/json; charset=utf-8");
        assert_eq!(came.headers["content-length"], body.len().to_string());
        assert_eq!(came.headers["idempotency-key"], "once");
        assert_eq!(came.headers["accept-encoding"], "gzip, br");
        assert_eq!(came.headers["user-agent"], "a-client/1");
        assert_eq!(came.authorization(), Some("Bearer token-of-alice"));
        let odd: Vec<_> = came.headers.get_all("x-odd").iter().collect();
        assert_eq!(odd, ["one", "two"]);
    }
}

#[tokio::test]
async fn connection_and_proxy_headers_do_not_pass() {
    let world = World::new().await;
    world.script(Reply::json(StatusCode::OK, &json!({})));
    let asked = request(&world, Method::GET, "/v1/files")
        .header("connection", "keep-alive, X-Hop")
        .header("x-hop", "1")
        .header("te", "trailers")
        .header("proxy-authorization", "Basic x")
        .header("upgrade", "h2c")
        .header("cookie", "session=1")
        .header("forwarded", "for=10.0.0.7")
        .header("x-forwarded-for", "10.0.0.7")
        .header("x-stays", "1");
    read_answer(asked, "").await;

    let came = world.request(0).await;
    let gone = ["connection", "x-hop", "te", "proxy-authorization", "upgrade", "cookie"];
    for name in gone.into_iter().chain(["forwarded", "x-forwarded-for"]) {
        assert_eq!(came.headers.get(name), None, "{name}");
    }
    assert_eq!(came.headers["x-stays"], "1");
    assert_eq!(
        came.headers["host"],
        world.upstream.base_url()["http://".len()..].trim_end_matches("/v1")
    );
}

#[tokio::test]
async fn answer_reaches_the_caller_unchanged() {
    let world = World::new().await;
    let compressed = b"\x1f\x8b\x08 not really".as_slice();
    world.script(
        Reply::new(StatusCode::CREATED, "application/octet-stream", compressed)
            .header("content-encoding", "gzip")
            .header("etag", "\"1\"")
            .header("openai-processing-ms", "7")
            .header("content-length", "14")
            .header("connection", "x-hop")
            .header("x-hop", "1")
            .header("set-cookie", "session=1")
            .header("alt-svc", "h3=\":443\""),
    );
    let answer = read_answer(request(&world, Method::GET, "/v1/files/file_1/content"), "").await;

    assert_eq!(answer.status(), 201);
    assert_eq!(answer.body(), compressed);
    for (name, value) in [
        ("content-type", "application/octet-stream"),
        ("content-encoding", "gzip"),
        ("content-length", "14"),
        ("etag", "\"1\""),
        ("openai-processing-ms", "7"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}");
    }
    for name in ["connection", "x-hop", "set-cookie", "alt-svc"] {
        assert_eq!(answer.header(name), None, "{name}");
    }
}

#[tokio::test]
async fn redirect_passes_to_the_caller() {
    let world = World::new().await;
    let away = Reply::new(StatusCode::FOUND, "text/plain", "").header("location", "/v1/elsewhere");
    world.script(away);
    let answer = read_answer(request(&world, Method::GET, "/v1/files/file_1"), "").await;
    assert_eq!((answer.status(), answer.header("location")), (302, Some("/v1/elsewhere")));
    assert_eq!(world.times_asked(), 1);
}

#[tokio::test]
async fn error_passes_unchanged_without_a_retry() {
    let world = World::with(|settings| settings.upstreams[0].retries.max = 2).await;
    let error = "{\"type\":\"error\",\"error\":{\"message\":\"overloaded\"}}";
    let overloaded = StatusCode::from_u16(529).expect("it is a status");
    world.script(Reply::new(overloaded, "application/json", error).header("retry-after", "3"));
    let answer = read_answer(request(&world, Method::POST, "/v1/embeddings"), "{}").await;
    assert_eq!((answer.status(), answer.header("retry-after")), (529, Some("3")));
    assert_eq!(answer.body(), error);
    assert_eq!(world.times_asked(), 1);
}

#[tokio::test]
async fn head_request_has_no_body() {
    let world = World::new().await;
    world.script(Reply::new(StatusCode::OK, "text/plain", "").header("content-length", "1234"));
    let answer = read_answer(request(&world, Method::HEAD, "/v1/files/file_1/content"), "").await;
    assert_eq!((answer.status(), answer.header("content-length")), (200, Some("1234")));
    assert_eq!(world.request(0).await.method, "HEAD");
}

#[tokio::test]
async fn stream_passes_chunk_by_chunk() {
    let world = World::with(|settings| settings.upstreams[0].api = UpstreamApi::Chat).await;
    let pieces =
        ["data: {\"choices\":[]}\n\n", "data: {\"cho", "ices\":[]}\n\n", "data: [DONE]\n\n"];
    let stream = Reply::new(StatusCode::OK, "text/event-stream", "").chunks(pieces).gated();
    let exchange = world.script(stream);
    let body = json!({"model": "fake-model", "stream": true, "messages": []}).to_string();
    let mut answer =
        send_request(request(&world, Method::POST, "/v1/chat/completions"), body).await;
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    for piece in pieces {
        exchange.release(1);
        let frame = soon("a piece passes", answer.body_mut().frame()).await;
        let frame = frame.expect("it goes on").expect("it is whole");
        assert_eq!(frame.into_data().expect("it is data"), piece);
    }
    assert!(soon("it ends", answer.body_mut().frame()).await.is_none());
}

#[tokio::test]
async fn disconnect_cancels_the_upstream_request() {
    let world = World::new().await;
    let stream = Reply::new(StatusCode::OK, "text/event-stream", "").chunks(["a", "b"]);
    let exchange = world.script(stream.hang_after(1));
    let answer = send_request(request(&world, Method::POST, "/v1/completions"), "{}").await;
    drop(answer);
    world.wait_for_disconnect(&exchange).await;
}

//! Paths that mean something else than they seem to.

use http::Method;

use super::{read_answer, request};
use crate::support::World;

/// The status line and the body of the answer to this request line.
async fn receive(world: &World, line: &str) -> String {
    let mut caller = world.connect().await;
    caller.send(&format!("{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")).await;
    caller.read_to_end().await
}

#[tokio::test]
async fn own_paths_never_pass_to_an_upstream() {
    let world = World::new().await;
    for path in [
        "/v1/responses/resp_1/nothing",
        "/v1/responses/",
        "/v1/conversations/conv_1/nothing",
        "/v1/conversations/conv_1/items/msg_1/nothing",
        "/v1/%72esponses",
        "/v1/Responses",
        "/v1/responses%2Fresp_1%2Fnothing",
    ] {
        let answer = receive(&world, &format!("GET {path}")).await;
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
        assert!(answer.contains(&format!("Invalid URL (GET {path})")), "{path}: {answer}");
    }
    assert_eq!(
        read_answer(request(&world, Method::DELETE, "/v1/models/m"), "").await.status(),
        405
    );
    assert_eq!(read_answer(request(&world, Method::PUT, "/v1/responses"), "").await.status(), 405);
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn ambiguous_path_never_passes() {
    let world = World::new().await;
    for path in [
        "/v1/files/../responses",
        "/v1/files/..",
        "/v1/./files",
        "/v1/files/%2e%2e/responses",
        "/v1/files/.%2E/responses",
        "/v1/files/%252e%252e/responses",
        "/v1/files/..%2Fresponses",
        "/v1/files/..%5cresponses",
        "/v1/files/..;/responses",
        "/v1//files",
        "/v1/files//x",
        "/v1/files/",
        "//v1/files",
        "/v1/files/%00",
        "/v1/files/%0d%0ax-evil:1",
        "/../v1/files",
    ] {
        let answer = receive(&world, &format!("GET {path}")).await;
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
        assert_eq!(world.times_asked(), 0, "{path}");
    }
}

#[tokio::test]
async fn absolute_url_goes_only_to_the_upstream() {
    let world = World::new().await;
    let answer = receive(&world, "GET http://other.example/v1/files?a=b").await;
    assert!(answer.starts_with("HTTP/1.1 404"), "the fake upstream has no files: {answer}");
    let came = world.request(0).await;
    assert_eq!((came.path.as_str(), came.query.as_deref()), ("/v1/files", Some("a=b")));
    let upstream = world.upstream.base_url();
    assert_eq!(came.headers["host"], upstream["http://".len()..].trim_end_matches("/v1"));
}

#[tokio::test]
async fn trace_and_connect_do_not_pass() {
    let world = World::new().await;
    let answer = receive(&world, "TRACE /v1/files").await;
    assert!(answer.starts_with("HTTP/1.1 405"), "{answer}");
    assert!(answer.contains("allow: GET,HEAD,PUT,POST,PATCH,OPTIONS,DELETE\r\n"), "{answer}");
    let answer = receive(&world, "CONNECT other.example:443").await;
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn websocket_on_a_passed_path_is_rejected() {
    let world = World::new().await;
    let asked = request(&world, Method::GET, "/v1/realtime?model=fake-model")
        .header("connection", "upgrade")
        .header("upgrade", "WebSocket");
    let refused = read_answer(asked, "").await.refused();
    assert_eq!(refused.status, 400);
    assert_eq!(refused.body["error"]["message"], "WebSockets are not forwarded at /v1/realtime.");
    assert_eq!(world.times_asked(), 0);
}

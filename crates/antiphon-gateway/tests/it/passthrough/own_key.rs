//! The operator's key, which an upstream is shown and callers are not.

use antiphon_gateway::settings::{Secret, Settings};
use antiphon_mock::Reply;
use http::{Method, StatusCode};

use super::{read_answer, request};
use crate::support::World;

const KEY: &str = "sk-of-the-operator";

fn with_key(settings: &mut Settings) {
    settings.upstreams[0].key = Some(Secret::new(KEY));
}

#[tokio::test]
async fn own_key_replaces_the_callers_credentials() {
    let world = World::with(with_key).await;
    let asked = request(&world, Method::GET, "/v1/files")
        .header("authorization", "Basic eDp5")
        .header("x-api-key", "a key of the caller's")
        .header("api-key", "another");
    read_answer(asked, "").await;
    let came = world.request(0).await;
    assert_eq!(came.authorization(), Some("Bearer sk-of-the-operator"));
    assert_eq!((came.headers.get("x-api-key"), came.headers.get("api-key")), (None, None));
    assert_eq!(came.headers["accept-encoding"], "identity");
}

#[tokio::test]
async fn own_key_is_removed_at_any_cut() {
    let world = World::with(with_key).await;
    let body = format!("data: {KEY}{KEY}\n\ndata: sk-of\n\n");
    let stars = "*".repeat(KEY.len());
    let expected = format!("data: {stars}{stars}\n\ndata: sk-of\n\n");
    for status in [StatusCode::OK, StatusCode::UNAUTHORIZED] {
        for size in [1, 7, 1000] {
            let reply = Reply::new(status, "text/event-stream", body.clone());
            world.script(reply.header("x-echo", KEY).header("x-other", "1").rechunk(size));
            let answer = read_answer(request(&world, Method::GET, "/v1/files"), "").await;
            assert_eq!(answer.status(), status.as_u16());
            assert_eq!(answer.body(), expected.as_bytes());
            assert_eq!((answer.header("x-echo"), answer.header("x-other")), (None, Some("1")));
        }
    }
}

#[tokio::test]
async fn compressed_error_shows_only_its_status() {
    let world = World::with(with_key).await;
    let reply = Reply::new(StatusCode::UNAUTHORIZED, "application/json", "compressed");
    world.script(reply.header("content-encoding", "br"));
    let refused = read_answer(request(&world, Method::GET, "/v1/files"), "").await.refused();
    assert_eq!(refused.status, 401);
    let message = "The upstream refused the request with status 401 Unauthorized.";
    assert_eq!(refused.body["error"]["message"], message);
}

//! Requests for an upstream of the same API pass to it as they came.

use antiphon::dialect::UpstreamApi;
use antiphon_mock::Reply;
use http::StatusCode;
use serde_json::json;

use super::{PATH, calls, output, request, user};
use crate::client_apis::world_of;
use crate::support::World;

/// A request without faults, in a form that no encoder writes.
fn body() -> String {
    let called = calls(&[("c1", "hello")]);
    let mut request =
        request(&json!([{"role": "developer", "content": "S"}, user("Echo hello"), called,
            output("c1", "x")]));
    request["model"] = crate::support::PLAIN.into();
    request["seed"] = json!(7);
    serde_json::to_string_pretty(&request).expect("it is JSON")
}

#[tokio::test]
async fn request_and_answer_pass_unchanged() {
    let world = world_of(UpstreamApi::Chat).await;
    let answer = "{ \"id\" : \"chatcmpl-1\", \"choices\": [] }";
    world.script(Reply::new(StatusCode::OK, "application/json", answer));
    let received = world.client().post_raw(PATH, body()).await;
    assert_eq!(received.body(), answer);
    assert_eq!(received.header("antiphon-repairs"), None);
    assert_eq!(world.request(0).await.raw, body());
}

#[tokio::test]
async fn stream_passes_unchanged() {
    let world = world_of(UpstreamApi::Chat).await;
    let pieces = [
        ": a comment\n\ndata: {\"choices\": [ ]}\n\n",
        "data: {\"error\": 1}\n\n",
        "data: [DONE]\n\n",
    ];
    let stream = Reply::new(StatusCode::OK, "text/event-stream", "").chunks(pieces);
    world.script(stream);
    let streamed = body().replacen('{', "{ \"stream\": true,", 1);
    let received = world.client().post_raw(PATH, streamed.clone()).await;
    assert_eq!(received.body(), pieces.concat().as_bytes());
    assert_eq!(world.request(0).await.raw, streamed);
}

/// Without the header, nothing of the request is stored.
#[tokio::test]
async fn nothing_is_stored() {
    for api in [UpstreamApi::Chat, UpstreamApi::Responses] {
        let world = world_of(api).await;
        assert_eq!(world.client().post_raw(PATH, stateless()).await.status(), 200);
        assert_no_data(&world).await;
    }
}

fn stateless() -> String {
    let mut request = request(&json!([user("Hello")]));
    request["model"] = crate::support::PLAIN.into();
    request.to_string()
}

async fn assert_no_data(world: &World) {
    let (_, tenants) = world.listings_of_tenants().await;
    assert!(tenants.is_empty(), "{tenants:?}");
}

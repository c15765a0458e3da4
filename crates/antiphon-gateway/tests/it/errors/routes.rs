//! Unknown paths and wrong methods.

use http::Method;
use serde_json::json;

use crate::support::{Answer, World, ask, invalid, not_found};

#[tokio::test]
async fn unknown_path_gets_json() {
    let world = World::new().await;
    let client = world.client();
    for path in ["/", "/v1", "/v1/", "/v1/responses/resp_x/nothing", "/responses"] {
        let expected = not_found(None, &format!("Invalid URL (GET {path})"));
        assert_eq!(client.get(path).await.refused(), expected);
    }
}

#[tokio::test]
async fn malformed_id_gets_json() {
    let world = World::new().await;
    let client = world.client();
    let ids = ["/v1/responses/%FF", "/v1/conversations/%C3%28/items/msg_x", "/v1/models/%FF"];
    for path in ids {
        let expected = not_found(None, &format!("Invalid URL (GET {path})"));
        assert_eq!(client.get(path).await.refused(), expected);
    }
}

#[tokio::test]
async fn wrong_method_gets_json() {
    let world = World::new().await;
    let client = world.client();
    for (method, path) in [
        (Method::GET, "/v1/responses"),
        (Method::PUT, "/v1/responses/resp_x"),
        (Method::GET, "/v1/conversations"),
        (Method::GET, "/v1/responses/compact"),
        (Method::PATCH, "/v1/conversations/conv_x/items"),
        (Method::DELETE, "/v1/models"),
    ] {
        let answer = client.send(method.clone(), path, "").await;
        assert_eq!(answer.status(), 405, "{method} {path}");
        let refused = Answer::read(answer).await.refused();
        assert_eq!(refused.body["error"]["type"], "invalid_request_error");
        let message = refused.body["error"]["message"].as_str().unwrap();
        assert!(message.contains(path), "{message}");
    }
}

#[tokio::test]
async fn foreground_response_cannot_be_cancelled_or_streamed() {
    let world = World::new().await;
    let client = world.client();
    let turn = client.respond(&ask("Hello")).await;

    let cancelled = client.post(&format!("/v1/responses/{}/cancel", turn.id()), &json!({})).await;
    assert_eq!(cancelled.refused(), invalid(None, None, "Cannot cancel a synchronous response."));
    let unknown = client.post("/v1/responses/resp_x/cancel", &json!({})).await;
    assert_eq!(unknown.status(), 404);
    let again = client.get(&format!("/v1/responses/{}?stream=true", turn.id())).await;
    assert_eq!(again.refused().body["error"]["param"], "stream");
}

#[tokio::test]
async fn unacceptable_items_are_not_stored() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    for (item, param) in [
        (json!({"role": "zed", "content": "Hello"}), "items[0].role"),
        (json!({"role": "user", "content": 5}), "items[0].content"),
        (json!({"type": "function_call_output", "output": "hello"}), "items[0].call_id"),
    ] {
        let path = format!("/v1/conversations/{conversation}/items");
        let refused = client.post(&path, &json!({"items": [item]})).await.refused();
        assert_eq!(refused.body["error"]["param"], param);
    }
    assert_eq!(client.items(&conversation).await, Vec::<serde_json::Value>::new());
}

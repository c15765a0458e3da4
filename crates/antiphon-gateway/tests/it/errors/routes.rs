//! Paths and methods that there are not.

use http::Method;
use serde_json::json;

use crate::support::{Answer, World, not_found};

#[tokio::test]
async fn an_unknown_path_is_told_in_json() {
    let world = World::new().await;
    let client = world.client();
    for path in ["/", "/v1", "/v1/nothing", "/v1/responses/resp_x/nothing", "/responses"] {
        let expected = not_found(None, &format!("Invalid URL (GET {path})"));
        assert_eq!(client.get(path).await.refused(), expected);
    }
    let answer = client.post("/v1/chat/completions", &json!({})).await;
    assert_eq!(answer.refused(), not_found(None, "Invalid URL (POST /v1/chat/completions)"));
}

#[tokio::test]
async fn a_wrong_method_is_told_in_json() {
    let world = World::new().await;
    let client = world.client();
    for (method, path) in [
        (Method::GET, "/v1/responses"),
        (Method::PUT, "/v1/responses/resp_x"),
        (Method::GET, "/v1/conversations"),
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

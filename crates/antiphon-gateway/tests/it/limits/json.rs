//! How deep JSON may be nested, and how long a model's name may be.

use serde_json::{Value, json};

use crate::support::{SIM, World, ask, create, invalid};

const TOO_DEEP: &str =
    "Invalid JSON body: nested too deeply. Expected at most 128 levels of arrays and objects.";

/// A request whose field `deep` has so many levels, the request itself included.
fn nested(fields: &str, depth: usize) -> String {
    let (open, close) = ("[".repeat(depth - 1), "]".repeat(depth - 1));
    format!(r#"{{{fields},"deep":{open}7{close}}}"#)
}

#[tokio::test]
async fn too_deep_json_is_rejected_on_every_route() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let item = r#"{"type":"message","role":"user","content":"Hello"}"#;
    for path in [
        "/v1/responses",
        "/v1/responses/compact",
        "/v1/responses/input_tokens",
        "/v1/conversations",
        &format!("/v1/conversations/{conversation}"),
        &format!("/v1/conversations/{conversation}/items"),
        "/v1/embeddings",
    ] {
        for depth in [129, 500_000] {
            let body = nested(&format!(r#""model":"fake-model","items":[{item}]"#), depth);
            let refused = client.post_raw(path, body).await.refused();
            let expected = invalid(None, Some("json_above_max_depth"), TOO_DEEP);
            assert_eq!(refused, expected, "{path} {depth}");
        }
    }
    assert!(client.items(&conversation).await.is_empty());
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn json_at_the_depth_limit_is_accepted() {
    let world = World::new().await;
    let body = nested(&format!(r#""model":"{SIM}","input":"Hello""#), 128);
    assert_eq!(world.client().post_raw("/v1/responses", body).await.status(), 200);
    let strings = json!({"metadata": {"a": "[".repeat(500)}});
    assert_eq!(world.client().post("/v1/conversations", &strings).await.status(), 200);
}

#[tokio::test]
async fn too_deep_event_is_rejected_on_an_open_connection() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    let event = nested(&format!(r#""type":"response.create","model":"{SIM}""#), 129);
    socket.send_message(tokio_tungstenite::tungstenite::Message::text(event)).await;
    let (status, error) = socket.refused().await;
    assert_eq!((status, &error["message"]), (400, &Value::from(TOO_DEEP)));
    assert_eq!(socket.turn(&ask("Hello").model(SIM)).await.status(), "completed");
}

#[tokio::test]
async fn model_name_length_is_limited() {
    let world = World::new().await;
    let client = world.client();
    let long = "m".repeat(1 << 20);
    let message = "Invalid 'model': string too long. Expected a string with maximum length 256, \
                   but got a string with length 1048576 instead.";
    let expected = invalid(Some("model"), Some("string_above_max_length"), message);
    for path in ["/v1/responses", "/v1/responses/compact", "/v1/responses/input_tokens"] {
        let answer = client.post(path, ask("Hello").model(&long).body()).await;
        assert_eq!(answer.refused(), expected, "{path}");
    }
    let passed = client.post("/v1/embeddings", &json!({"model": long, "input": "Hello"})).await;
    assert_eq!(passed.refused(), expected);
    let mut socket = client.socket().await;
    socket.send(&create(&ask("Hello").model(&long))).await;
    assert_eq!(socket.refused().await.1["code"], "string_above_max_length");
    assert_eq!(world.times_asked(), 0);
}

//! Which bodies are taken where no key is needed.

use antiphon_gateway::settings::ApiKey;
use antiphon_store::Tenant;
use serde_json::json;

use crate::support::{MODEL, World};

const SIMPLE: [&str; 4] = [
    "",
    "content-type: text/plain;charset=UTF-8\r\n",
    "content-type: application/x-www-form-urlencoded\r\n",
    "content-type: application/jsonp\r\n",
];

/// All that comes back for a request with this body.
async fn posted(world: &World, path: &str, header: &str, body: &str) -> String {
    let mut caller = world.connect().await;
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
    let head = format!("{head}authorization: Bearer sk-of-acme\r\n{header}");
    caller.send(&format!("{head}content-length: {length}\r\n\r\n{body}")).await;
    caller.read_to_end().await
}

#[tokio::test]
async fn simple_body_is_rejected_on_every_route() {
    let world = World::new().await;
    for background in [false, true] {
        let body = json!({"model": MODEL, "input": "Hello", "background": background}).to_string();
        for header in SIMPLE {
            for path in ["/v1/responses", "/v1/conversations", "/v1/responses/compact"] {
                let heard = posted(&world, path, header, &body).await;
                assert!(heard.starts_with("HTTP/1.1 415 "), "{path} {header}: {heard}");
                assert!(heard.contains("send the header 'Content-Type: application/json'"));
            }
        }
    }
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn simple_body_does_not_pass_to_an_upstream() {
    let world = World::new().await;
    for path in ["/v1/chat/completions", "/v1/fine_tuning/jobs"] {
        for header in &SIMPLE[..3] {
            let heard = posted(&world, path, header, r#"{"model":"fake-model"}"#).await;
            assert!(heard.starts_with("HTTP/1.1 415 "), "{path} {header}: {heard}");
        }
    }
    assert_eq!(world.times_asked(), 0);

    for header in ["application/octet-stream", "multipart/form-data; boundary=x1"] {
        posted(&world, "/v1/files", &format!("content-type: {header}\r\n"), "--x1--").await;
    }
    assert_eq!(world.times_asked(), 2);
}

#[tokio::test]
async fn json_types_and_empty_bodies_are_accepted() {
    let world = World::new().await;
    for header in ["application/json; charset=utf-8", "Application/JSON", "application/a+json"] {
        let header = format!("content-type: {header}\r\n");
        let heard = posted(&world, "/v1/conversations", &header, "{}").await;
        assert!(heard.starts_with("HTTP/1.1 200 "), "{heard}");
    }
    let heard = posted(&world, "/v1/conversations", "", "").await;
    assert!(heard.starts_with("HTTP/1.1 200 "), "{heard}");
}

#[tokio::test]
async fn content_type_is_ignored_with_keys() {
    let key = ApiKey::new("sk-of-acme", Tenant::new("acme"));
    let world = World::with(|settings| settings.api_keys = vec![key]).await;
    for header in SIMPLE {
        let heard = posted(&world, "/v1/conversations", header, "{}").await;
        assert!(heard.starts_with("HTTP/1.1 200 "), "{header}: {heard}");
    }
}

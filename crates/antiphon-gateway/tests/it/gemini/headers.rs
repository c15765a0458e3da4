//! Keys of Google's clients.

use antiphon_gateway::settings::Secret;
use http::StatusCode;
use serde_json::json;

use super::{client_of, generate, path, request, user};
use crate::client_apis::{UPSTREAMS, world_of, world_with};
use crate::support::{MODEL, Mode};

#[tokio::test]
async fn key_reaches_the_upstream_in_its_form() {
    for (upstream, name) in UPSTREAMS {
        let world = world_of(upstream).await;
        let body = request(&json!([user("Hello")]));
        generate(&client_of(&world), Mode::Whole, &body).await;
        let target = format!("{}?key=key-of-alice", path(MODEL, Mode::Whole));
        let answer = world.anonymous_client().post(&target, &body).await;
        assert_eq!(answer.status(), StatusCode::OK.as_u16());
        for index in 0..2 {
            let sent = world.request(index).await;
            let headers = format!("{:?}", sent.headers);
            assert!(headers.contains("key-of-alice"), "{name:?}: {headers}");
            assert!(!sent.headers.contains_key("x-goog-api-key"), "{name:?}");
            assert!(!sent.path.contains("key"), "{}", sent.path);
        }
    }
}

#[tokio::test]
async fn operators_key_replaces_the_callers() {
    for (upstream, name) in UPSTREAMS {
        let world = world_with(upstream, |settings| {
            settings.upstreams[0].key = Some(Secret::new("key-of-the-gateway"));
        })
        .await;
        generate(&client_of(&world), Mode::Whole, &request(&json!([user("Hello")]))).await;
        let headers = format!("{:?}", world.request(0).await.headers);
        assert!(headers.contains("key-of-the-gateway"), "{name:?}: {headers}");
        assert!(!headers.contains("key-of-alice"), "{name:?}: {headers}");
    }
}

/// A request that passes through unchanged does not carry the key of a Gemini client beside the
/// operator's.
#[tokio::test]
async fn operators_key_replaces_the_callers_in_passing_requests() {
    let world = world_with(UPSTREAMS[0].0, |settings| {
        settings.upstreams[0].key = Some(Secret::new("key-of-the-gateway"));
    })
    .await;
    client_of(&world).post("/v1/embeddings", &json!({"model": MODEL, "input": "x"})).await;
    let headers = format!("{:?}", world.request(0).await.headers);
    assert!(!headers.contains("key-of-alice"), "{headers}");
}

#[tokio::test]
async fn action_is_rejected_in_googles_form_whatever_its_other_headers() {
    let world = world_of(UPSTREAMS[0].0).await;
    let client = client_of(&world).with_header("anthropic-version", "2023-06-01");
    let target = format!("/v1/models/{MODEL}:generateContent");
    let body = client.post(&target, &json!({"contents": 1})).await.refused().body;
    assert_eq!(body["error"]["status"], "INVALID_ARGUMENT", "{body}");
}

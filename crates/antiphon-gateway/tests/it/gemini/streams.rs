//! The form of a stream without `alt=sse`: one array.

use serde_json::{Value, json};

use super::generation::accumulate;
use super::{client_of, request, user};
use crate::client_apis::{UPSTREAMS, world_of};
use crate::support::MODEL;

#[tokio::test]
async fn stream_without_events_is_an_array() {
    let path = format!("/v1beta/models/{MODEL}:streamGenerateContent");
    for (upstream, name) in UPSTREAMS {
        let world = world_of(upstream).await;
        let body = request(&json!([user("My color is purple")]));
        let answer = client_of(&world).post(&path, &body).await;
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let chunks: Vec<Value> = serde_json::from_slice(answer.body()).expect("it is an array");
        assert!(chunks.len() > 1, "{name:?}");
        let whole = accumulate(&chunks);
        let parts = whole["candidates"][0]["content"]["parts"].as_array().expect("it has parts");
        let text: String = parts.iter().filter_map(|part| part["text"].as_str()).collect();
        assert_eq!(text, "Noted.", "{name:?}");
    }
}

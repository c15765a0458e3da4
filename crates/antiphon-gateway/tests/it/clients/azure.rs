//! Azure's clients: their paths, their query, and their header for the key.

use antiphon_gateway::settings::{ApiKey, Secret, Settings};
use antiphon_store::Tenant;
use serde_json::json;

use crate::support::World;

fn with_key(settings: &mut Settings) {
    settings.upstreams[0].key = Some(Secret::new("sk-of-the-operator"));
    settings.api_keys = vec![ApiKey::new("key-of-acme", Tenant::new("acme"))];
}

const BASES: [(&str, &str); 3] = [
    ("/openai/v1", ""),
    ("/openai", "?api-version=2025-04-01-preview"),
    ("/api/projects/pets/openai/v1", "?api-version=preview"),
];

#[tokio::test]
async fn azure_paths_share_one_chain_with_v1() {
    let world = World::with(with_key).await;
    let client = world.anonymous_client().with_header("api-key", "key-of-acme");
    let mut previous = serde_json::Value::Null;
    for (turn, (base, query)) in BASES.into_iter().enumerate() {
        let input = format!("Message {turn}");
        let body = json!({"model": "fake-model", "input": input, "previous_response_id": previous});
        let answer = client.post(&format!("{base}/responses{query}"), &body).await;
        assert_eq!(answer.status(), 200, "{base}: {}", answer.json());
        previous = answer.json()["id"].clone();
        assert_eq!(world.view(turn).await.len(), 2 * turn + 1, "{base}");
        assert_eq!(world.request(turn).await.path, "/v1/responses");
    }
    let last = previous.as_str().unwrap();
    let listed =
        client.get(&format!("/openai/responses/{last}/input_items?api-version=x&order=asc")).await;
    assert_eq!(listed.json()["data"].as_array().map(Vec::len), Some(1), "{}", listed.json());
    assert_eq!(client.get(&format!("/v1/responses/{last}")).await.status(), 200);
}

#[tokio::test]
async fn azure_path_passes_to_the_upstream_below_v1() {
    let world = World::with(with_key).await;
    let client = world.anonymous_client().with_header("api-key", "key-of-acme");
    let body = json!({"model": "fake-model", "input": "Hello"});
    client.post("/openai/v1/embeddings?api-version=preview", &body).await;
    let came = world.request(0).await;
    assert_eq!(came.path, "/v1/embeddings");
    assert_eq!(came.authorization(), Some("Bearer sk-of-the-operator"));
    assert_eq!(came.headers.get("api-key"), None);
}

#[tokio::test]
async fn wrong_azure_key_is_rejected() {
    let world = World::with(with_key).await;
    let body = json!({"model": "fake-model", "input": "Hello"});
    for client in
        [world.anonymous_client(), world.anonymous_client().with_header("api-key", "wrong")]
    {
        let path = "/openai/responses?api-version=2025-04-01-preview";
        assert_eq!(client.post(path, &body).await.status(), 401);
    }
    assert_eq!(world.times_asked(), 0);
}

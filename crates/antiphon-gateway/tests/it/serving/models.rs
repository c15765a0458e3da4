//! Models and health.

use antiphon_gateway::settings::ApiKey;
use antiphon_store::Tenant;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::support::{Client, World, list, text};

async fn models(client: &Client) -> Vec<String> {
    let listed = client.get("/v1/models").await.json();
    assert_eq!(listed["object"], "list");
    let models = list(&listed["data"]);
    assert!(models.iter().all(|model| model["object"] == "model"));
    let id = |model: &Value| text(&model["id"]).to_owned();
    models.iter().map(id).collect()
}

#[tokio::test]
async fn built_in_and_upstream_models_are_listed() {
    let world = World::new().await;
    let mut listed = models(&world.client()).await;
    listed.sort();
    assert_eq!(listed, ["fake-model", "plain-model", "sim"]);
}

#[tokio::test]
async fn built_in_model_is_listed_without_an_upstream() {
    let world = World::with(|settings| settings.upstreams.clear()).await;
    assert_eq!(models(&world.client()).await, ["sim"]);
}

#[tokio::test]
async fn unreachable_upstream_lists_no_models() {
    let vacant = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", vacant.local_addr().unwrap());
    drop(vacant);
    let world = World::with(|settings| {
        settings.upstreams[0].url = url.parse().unwrap();
    })
    .await;
    assert_eq!(models(&world.client()).await, ["sim"]);
}

#[tokio::test]
async fn health_needs_no_key() {
    let world = World::with(|settings| {
        settings.api_keys = vec![ApiKey::new("sk-of-acme", Tenant::new("acme"))];
    })
    .await;
    assert_eq!(world.anonymous_client().get("/healthz").await.status(), 200);
}

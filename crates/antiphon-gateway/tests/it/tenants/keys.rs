//! Keys and tokens, and the tenants that they name.

use antiphon_gateway::settings::{ApiKey, Secret};
use antiphon_store::Tenant;
use serde_json::json;

use crate::support::{Mode, World, ask};

#[tokio::test]
async fn tokens_are_tenants_without_keys() {
    let world = World::new().await;
    let conversation = world.client().new_conversation().await;
    world.client().respond(&ask("My color is purple").within(&conversation)).await;

    let question = ask("What is my color?").within(&conversation);
    let refused = world.caller("token-of-mallory").refused(Mode::Whole, &question).await;

    assert_eq!(refused.status, 404);
    assert_eq!(world.client().respond(&question).await.text(), "purple");
}

async fn keyed() -> World {
    World::with(|settings| {
        settings.api_keys = vec![
            ApiKey::new("sk-first-of-acme", Tenant::new("acme")),
            ApiKey::new("sk-second-of-acme", Tenant::new("acme")),
            ApiKey::new("sk-of-umbrella-corp", Tenant::new("umbrella")),
        ];
    })
    .await
}

#[tokio::test]
async fn keys_share_only_their_tenants_data() {
    let world = keyed().await;
    let (first, second) = (world.caller("sk-first-of-acme"), world.caller("sk-second-of-acme"));
    let conversation = first.new_conversation().await;
    first.respond(&ask("My color is purple").within(&conversation)).await;

    let question = ask("What is my color?").within(&conversation);
    let refused = world.caller("sk-of-umbrella-corp").refused(Mode::Whole, &question).await;

    assert_eq!(refused.status, 404);
    assert_eq!(second.respond(&question).await.text(), "purple");
}

#[tokio::test]
async fn wrong_key_is_unauthorized() {
    let world = keyed().await;
    let wrong = "sk-0123456789abcdefghij";
    for client in [world.caller(wrong), world.anonymous_client(), world.caller("sk-first-of-acm")] {
        for answer in [
            client.get("/v1/models").await,
            client.post("/v1/conversations", &json!({})).await,
            client.create(Mode::Streamed, &ask("Hello")).await,
            client.get("/v1/responses/resp_x").await,
        ] {
            let refused = answer.refused();
            let error = &refused.body["error"];
            assert_eq!(refused.status, 401);
            assert_eq!(error["type"], "invalid_request_error");
            assert_eq!(error["code"], "invalid_api_key");
            assert_eq!(error["param"], "");
            assert!(!error["message"].as_str().unwrap().contains("0123456789"));
        }
    }
    let answer = world.caller(wrong).get("/v1/models").await.refused();
    let message = answer.body["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("Incorrect API key provided: sk-"), "{message}");
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn own_key_replaces_the_callers_upstream() {
    let world = World::with(|settings| {
        settings.upstreams[0].key = Some(Secret::new("key-of-the-gateway"));
    })
    .await;
    world.caller("token-of-alice").respond(&ask("Hello")).await;
    world.anonymous_client().respond(&ask("Hello")).await;
    for index in 0..2 {
        let request = world.request(index).await;
        assert_eq!(request.authorization(), Some("Bearer key-of-the-gateway"));
    }
}

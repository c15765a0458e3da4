//! Who asks, as each API wants to be told.

use antiphon_gateway::settings::Secret;

use super::{ANTHROPIC, CHAT, Dialect};
use crate::support::{World, ask};

/// A gateway with a key of its own for its upstream.
async fn with_key(dialect: Dialect) -> World {
    World::with(|settings| {
        settings.upstreams[0].api = dialect.upstream;
        settings.upstreams[0].key = Some(Secret::new("key-of-the-gateway"));
    })
    .await
}

#[tokio::test]
async fn anthropic_gets_version_and_key() {
    let world = with_key(ANTHROPIC).await;
    world.client().respond(&ask("Hello")).await;
    let request = world.request(0).await;
    assert_eq!(request.path, "/v1/messages");
    assert_eq!(request.headers["anthropic-version"], "2023-06-01");
    assert_eq!(request.headers["x-api-key"], "key-of-the-gateway");
    assert_eq!(request.authorization(), None);
}

#[tokio::test]
async fn chat_completions_get_a_bearer_key() {
    let world = with_key(CHAT).await;
    world.client().respond(&ask("Hello")).await;
    let request = world.request(0).await;
    assert_eq!(request.path, "/v1/chat/completions");
    assert_eq!(request.authorization(), Some("Bearer key-of-the-gateway"));
    assert!(!request.headers.contains_key("x-api-key"));
    assert!(!request.headers.contains_key("anthropic-version"));
}

#[tokio::test]
async fn callers_token_is_used_without_a_key() {
    let world = ANTHROPIC.world().await;
    world.client().respond(&ask("Hello")).await;
    let request = world.request(0).await;
    assert_eq!(request.headers["x-api-key"], "token-of-alice");
    assert_eq!(request.authorization(), None);

    let world = CHAT.world().await;
    world.client().respond(&ask("Hello")).await;
    assert_eq!(world.request(0).await.authorization(), Some("Bearer token-of-alice"));
}

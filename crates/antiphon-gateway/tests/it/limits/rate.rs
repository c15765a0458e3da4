//! How often a tenant may ask.

use std::num::NonZeroU32;

use antiphon_gateway::settings::Rate;
use serde_json::json;

use crate::support::{Answer, Client, World, soon};

/// One request a second, two at once.
async fn limited() -> World {
    let number = |count| NonZeroU32::new(count).expect("it is not zero");
    World::with(|settings| {
        settings.limits.rate = Some(Rate { per_second: number(1), burst: number(2) });
    })
    .await
}

/// A request that asks for little.
async fn asked(client: &Client) -> Answer {
    client.post("/v1/conversations", &json!({})).await
}

/// Asks until it is too often, however slow the machine is.
async fn refused(client: &Client) -> Answer {
    let until_refused = async {
        loop {
            let answer = asked(client).await;
            if answer.status() != 200 {
                break answer;
            }
        }
    };
    soon("it is too often", until_refused).await
}

#[tokio::test]
async fn rate_limit_sends_retry_after() {
    let world = limited().await;

    let answer = refused(&world.client()).await;

    let refused = answer.refused();
    assert_eq!(refused.status, 429);
    assert_eq!(refused.body["error"]["code"], "rate_limit_exceeded");
    assert_eq!(answer.header("retry-after"), Some("1"));
    let millis: u32 = answer.header("retry-after-ms").unwrap().parse().unwrap();
    assert!((1..=1000).contains(&millis), "{millis}");
    assert_eq!(answer.header("x-ratelimit-limit-requests"), Some("2"));
    assert_eq!(answer.header("x-ratelimit-remaining-requests"), Some("0"));
    assert!(answer.header("x-ratelimit-reset-requests").unwrap().ends_with('s'));
}

#[tokio::test]
async fn answers_have_rate_limit_headers() {
    let world = limited().await;
    let answer = asked(&world.client()).await;
    assert_eq!(answer.header("x-ratelimit-limit-requests"), Some("2"));
    assert_eq!(answer.header("x-ratelimit-remaining-requests"), Some("1"));
    assert_eq!(answer.header("x-ratelimit-reset-requests"), Some("1s"));
    assert_eq!(answer.header("retry-after"), None);
}

#[tokio::test]
async fn tenants_are_counted_separately() {
    let world = limited().await;
    refused(&world.client()).await;
    assert_eq!(asked(&world.caller("token-of-bob")).await.status(), 200);
}

#[tokio::test]
async fn health_is_not_counted() {
    let world = limited().await;
    let nobody = world.anonymous_client();
    refused(&nobody).await;
    assert_eq!(nobody.get("/healthz").await.status(), 200);
}

#[tokio::test]
async fn no_rate_limit_headers_without_a_limit() {
    let world = World::new().await;
    let answer = asked(&world.client()).await;
    assert_eq!(answer.header("x-ratelimit-limit-requests"), None);
}

//! What is another's does not exist.

use serde_json::json;

use super::{in_background, start_tale};
use crate::support::World;

#[tokio::test]
async fn open_response_is_hidden_from_other_tenants() {
    let world = World::new().await;
    let (owner, stranger) = (world.client(), world.caller("token-of-bob"));
    let (events, id, exchange) = start_tale(&world, &owner, &in_background("A tale")).await;
    let path = format!("/v1/responses/{id}");

    let statuses = [
        stranger.get(&path).await.status(),
        stranger.get(&format!("{path}?stream=true")).await.status(),
        stranger.post(&format!("{path}/cancel"), &json!({})).await.status(),
        stranger.delete(&path).await.status(),
    ];

    assert_eq!(statuses, [404; 4]);
    exchange.release_all();
    assert_eq!(events.ended().await.status(), "completed");
}

#[tokio::test]
async fn ended_response_is_not_streamed_to_other_tenants() {
    let world = World::new().await;
    let turn = world.client().turn(crate::support::Mode::Streamed, &in_background("Hello")).await;
    let stranger = world.caller("token-of-bob");
    let path = format!("/v1/responses/{}?stream=true", turn.id());
    assert_eq!(stranger.get(&path).await.status(), 404);
}

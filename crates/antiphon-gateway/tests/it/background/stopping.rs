//! A stop does not lose what is in the background.

use std::time::Duration;

use antiphon_gateway::settings::Secret;

use super::{create_queued, in_background, script_silence, start_tale, with_own_key};
use crate::support::World;

async fn without_grace_period() -> World {
    World::with(|settings| {
        settings.shutdown_grace = Duration::ZERO;
        settings.upstreams[0].key = Some(Secret::new("key-of-the-gateway"));
    })
    .await
}

#[tokio::test]
async fn response_finishes_within_the_grace_period() {
    let mut world = with_own_key().await;
    let client = world.client();
    let (events, id, exchange) = start_tale(&world, &client, &in_background("A tale")).await;

    let stopping = world.stop();
    exchange.release_all();

    assert_eq!(events.ended().await.status(), "completed");
    stopping.ended().await;
    world.start().await;
    assert_eq!(world.client().stored_response(&id).await["status"], "completed");
    assert_eq!(world.times_asked(), 1);
}

#[tokio::test]
async fn response_without_output_restarts_after_the_grace_period() {
    let mut world = without_grace_period().await;
    let exchange = script_silence(&world);
    let id = create_queued(&world.client(), &in_background("A tale")).await;
    world.request(0).await;

    world.stop().ended().await;
    world.wait_for_disconnect(&exchange).await;
    world.start().await;

    assert_eq!(world.client().wait_until_ended(&id).await["status"], "completed");
    assert_eq!(world.times_asked(), 2);
}

#[tokio::test]
async fn response_with_output_fails_after_the_grace_period() {
    let mut world = without_grace_period().await;
    let client = world.client();
    let (events, id, exchange) = start_tale(&world, &client, &in_background("A tale")).await;
    drop(events);

    world.stop().ended().await;
    world.wait_for_disconnect(&exchange).await;
    world.start().await;

    let ended = world.client().wait_until_ended(&id).await;
    assert_eq!(
        (&ended["status"], &ended["error"]["code"]),
        (&"failed".into(), &"server_error".into())
    );
}

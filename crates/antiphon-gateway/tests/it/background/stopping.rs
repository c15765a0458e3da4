//! A stop does not lose what is in the background.

use std::time::Duration;

use antiphon_gateway::settings::Secret;

use super::{a_tale_begun, in_background, queued, silence, with_own_key};
use crate::support::World;

async fn impatient() -> World {
    World::with(|settings| {
        settings.shutdown_grace = Duration::ZERO;
        settings.upstreams[0].key = Some(Secret::new("key-of-the-gateway"));
    })
    .await
}

#[tokio::test]
async fn in_its_grace_it_finishes() {
    let mut world = with_own_key().await;
    let client = world.client();
    let (events, id, exchange) = a_tale_begun(&world, &client, &in_background("A tale")).await;

    let stopping = world.stop();
    exchange.release_all();

    assert_eq!(events.ended().await.status(), "completed");
    stopping.ended().await;
    world.start().await;
    assert_eq!(world.client().kept(&id).await["status"], "completed");
    assert_eq!(world.times_asked(), 1);
}

#[tokio::test]
async fn beyond_its_grace_the_next_start_begins_it_anew() {
    let mut world = impatient().await;
    let exchange = silence(&world);
    let id = queued(&world.client(), &in_background("A tale")).await;
    world.request(0).await;

    world.stop().ended().await;
    world.left(&exchange).await;
    world.start().await;

    assert_eq!(world.client().ended(&id).await["status"], "completed");
    assert_eq!(world.times_asked(), 2);
}

#[tokio::test]
async fn response_with_output_fails_after_the_grace_period() {
    let mut world = impatient().await;
    let client = world.client();
    let (events, id, exchange) = a_tale_begun(&world, &client, &in_background("A tale")).await;
    drop(events);

    world.stop().ended().await;
    world.left(&exchange).await;
    world.start().await;

    let ended = world.client().ended(&id).await;
    assert_eq!(
        (&ended["status"], &ended["error"]["code"]),
        (&"failed".into(), &"server_error".into())
    );
}

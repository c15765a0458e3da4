//! What a background response goes on from, while it is open.

use super::{in_background, start_tale};
use crate::support::{World, ask};

#[tokio::test]
async fn response_keeps_history_deleted_meanwhile() {
    let world = World::new().await;
    let client = world.client();
    let first = client.respond(&ask("My color is purple")).await;
    let asking = in_background("Tell me a tale").after(first.id());
    let (events, id, exchange) = start_tale(&world, &client, &asking).await;

    client.delete(&format!("/v1/responses/{}", first.id())).await.json();
    exchange.release_all();

    assert_eq!(events.ended().await.status(), "completed");
    let turn = client.respond(&ask("What is my color?").after(&id)).await;
    assert_eq!(turn.text(), "purple");
}

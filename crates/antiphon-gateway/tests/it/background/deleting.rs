//! A response that is deleted goes with its events.

use super::{a_tale_begun, in_background, silence};
use crate::support::{Mode, World, invalid};

#[tokio::test]
async fn an_open_one_is_cancelled_first() {
    let world = World::new().await;
    let client = world.client();
    let (_events, id, exchange) = a_tale_begun(&world, &client, &in_background("A tale")).await;
    let path = format!("/v1/responses/{id}");

    assert_eq!(client.delete(&path).await.json()["deleted"], true);

    world.left(&exchange).await;
    assert_eq!(client.get(&path).await.status(), 404);
    assert_eq!(client.get(&format!("{path}?stream=true")).await.status(), 404);
    assert_eq!(client.delete(&path).await.status(), 404);
}

#[tokio::test]
async fn one_that_has_ended_is_not_streamed_any_more() {
    let world = World::new().await;
    let client = world.client();
    let turn = client.turn(Mode::Streamed, &in_background("Hello")).await;
    let path = format!("/v1/responses/{}", turn.id());

    client.delete(&path).await.json();

    assert_eq!(client.get(&format!("{path}?stream=true")).await.status(), 404);
}

#[tokio::test]
async fn deleted_item_ends_the_stream_of_events() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let asking = in_background("Hello").within(&conversation);
    let turn = client.turn(Mode::Streamed, &asking).await;
    let item = turn.item("message")["id"].as_str().unwrap();

    client.delete(&format!("/v1/conversations/{conversation}/items/{item}")).await.json();

    let again = client.get(&format!("/v1/responses/{}?stream=true", turn.id())).await.refused();
    let message = "This response cannot be streamed again any more.";
    assert_eq!(again, invalid(Some("stream"), Some("unsupported_parameter"), message));
    assert_eq!(client.kept(turn.id()).await["status"], "completed");
}

#[tokio::test]
async fn before_its_first_byte() {
    let world = World::new().await;
    let client = world.client();
    let exchange = silence(&world);
    let id = super::queued(&client, &in_background("A tale")).await;
    world.request(0).await;

    client.delete(&format!("/v1/responses/{id}")).await.json();

    world.left(&exchange).await;
    assert_eq!(client.get(&format!("/v1/responses/{id}")).await.status(), 404);
}

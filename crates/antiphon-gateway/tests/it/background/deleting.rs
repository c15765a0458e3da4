//! A response that is deleted goes with its events.

use super::{in_background, script_silence, start_tale};
use crate::support::{Mode, World, invalid};

#[tokio::test]
async fn deleting_an_open_response_cancels_it() {
    let world = World::new().await;
    let client = world.client();
    let (_events, id, exchange) = start_tale(&world, &client, &in_background("A tale")).await;
    let path = format!("/v1/responses/{id}");

    assert_eq!(client.delete(&path).await.json()["deleted"], true);

    world.wait_for_disconnect(&exchange).await;
    assert_eq!(client.get(&path).await.status(), 404);
    assert_eq!(client.get(&format!("{path}?stream=true")).await.status(), 404);
    assert_eq!(client.delete(&path).await.status(), 404);
}

#[tokio::test]
async fn deleted_response_cannot_be_streamed() {
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
    let message = "This response can no longer be streamed again.";
    assert_eq!(again, invalid(Some("stream"), Some("unsupported_parameter"), message));
    assert_eq!(client.stored_response(turn.id()).await["status"], "completed");
}

#[tokio::test]
async fn deletion_before_the_first_byte_cancels_the_request() {
    let world = World::new().await;
    let client = world.client();
    let exchange = script_silence(&world);
    let id = super::create_queued(&client, &in_background("A tale")).await;
    world.request(0).await;

    client.delete(&format!("/v1/responses/{id}")).await.json();

    world.wait_for_disconnect(&exchange).await;
    assert_eq!(client.get(&format!("/v1/responses/{id}")).await.status(), 404);
}

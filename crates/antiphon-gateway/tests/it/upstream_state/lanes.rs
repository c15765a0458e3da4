//! Turns that come by a WebSocket.

use super::world::World;
use crate::support::{ask, create, typed_user};

#[tokio::test]
async fn lane_chain_uses_the_providers_ids() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    let first = socket.turn(&ask([typed_user("My dog is Rex.")])).await;
    let second = socket.turn(&ask([typed_user("What is my dog?")]).after(first.id())).await;
    assert_eq!(second.text(), "Rex");
    assert_eq!(world.sent(), ["user: What is my dog?"]);
    assert!(world.provider.response(second.id()).is_some());
}

#[tokio::test]
async fn conversation_continues_on_a_websocket() {
    let world = World::new().await;
    let conversation = world.conversation().await;
    let mut socket = world.client().socket().await;
    for message in ["My dog is Rex.", "What is my dog?"] {
        socket.turn(&ask([typed_user(message)]).within(&conversation)).await;
    }
    assert_eq!(world.sent(), ["user: What is my dog?"]);
}

#[tokio::test]
async fn unstored_chain_is_replayed_by_its_lane() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    let first = socket.turn(&ask([typed_user("My dog is Rex.")]).unstored()).await;
    let second = ask([typed_user("What is my dog?")]).unstored().after(first.id());
    let second = socket.turn(&second).await;
    assert_eq!(second.text(), "Rex");
    assert_eq!(
        world.given(),
        ["user: My dog is Rex.", "assistant: Noted.", "user: What is my dog?"]
    );
    assert_eq!(world.provider.response_ids(), [""; 0]);
}

#[tokio::test]
async fn preparation_at_the_provider_is_rejected() {
    let world = World::new().await;
    let mut socket = world.client().socket().await;
    let first = socket.turn(&ask([typed_user("My dog is Rex.")])).await;
    let prepared = ask([typed_user("Hi.")]).after(first.id()).field("generate", false);
    socket.send(&create(&prepared)).await;
    let (status, error) = socket.refused().await;
    assert_eq!((status, &error["param"]), (400, &"generate".into()));
}

//! In a conversation: one open turn at a time, in order of arrival.

use super::{create_queued, in_background, start_tale};
use crate::support::{Mode, World, ask, lines};

#[tokio::test]
async fn background_turn_waits_for_earlier_turns() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let first = ask("My color is purple").within(&conversation);
    let (events, _, exchange) = start_tale(&world, &client, &first).await;

    let id =
        create_queued(&client, &in_background("What is my color?").within(&conversation)).await;
    assert_eq!(client.stored_response(&id).await["status"], "queued");
    assert_eq!(world.times_asked(), 1);
    exchange.release_all();

    assert_eq!(events.ended().await.status(), "completed");
    let ended = client.wait_until_ended(&id).await;
    assert_eq!(ended["output"][0]["content"][0]["text"], "purple");
    assert_eq!(ended["conversation"]["id"], *conversation);
}

#[tokio::test]
async fn background_turn_is_added_to_its_conversation() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let received = in_background("My color is purple").within(&conversation);
    let id = create_queued(&client, &received).await;
    client.wait_until_ended(&id).await;

    let turn = client.turn(Mode::Streamed, &ask("What is my color?").within(&conversation)).await;

    assert_eq!(turn.text(), "purple");
    let held = lines(&client.items(&conversation).await);
    assert_eq!(held[..2], ["user: My color is purple", "assistant: Noted."]);
}

#[tokio::test]
async fn deleted_conversation_fails_the_response() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let asking = in_background("A tale").within(&conversation);
    let (events, id, _exchange) = start_tale(&world, &client, &asking).await;

    client.delete(&format!("/v1/conversations/{conversation}")).await.json();

    let received = events.ended().await;
    assert_eq!((received.status(), received.id()), ("failed", &*id));
    let message = "The conversation was deleted while this request was working on it.";
    assert_eq!(received.response["error"]["message"], message);
    assert_eq!(client.stored_response(&id).await["status"], "failed");
}

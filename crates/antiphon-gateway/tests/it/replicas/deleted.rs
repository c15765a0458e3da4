//! A conversation is deleted on one gateway while a turn of it is open on another.

use super::start_tale;
use crate::support::{Mode, World, ask, not_found};

const DELETED: &str = "The conversation was deleted while this request was working on it.";

#[tokio::test]
async fn deletion_fails_the_turn_of_another_replica() {
    let world = World::replicas(2).await;
    let (one, other) = (world.client_of(0), world.client_of(1));
    let conversation = one.new_conversation().await;
    let asking = ask("Tell me a tale").within(&conversation);
    let (events, id, exchange) = start_tale(&world, &one, &asking).await;

    other.delete(&format!("/v1/conversations/{conversation}")).await.json();
    exchange.release_all();

    let turn = events.ended().await;
    assert_eq!((turn.status(), turn.id()), ("failed", &*id));
    assert_eq!(turn.response["error"]["message"], DELETED);
    for client in [&one, &other] {
        for path in [format!("/v1/conversations/{conversation}"), format!("/v1/responses/{id}")] {
            assert_eq!(client.get(&path).await.status(), 404, "{path}");
        }
        let refused = client.refused(Mode::Whole, &asking).await;
        let gone = format!("Conversation with id '{conversation}' not found.");
        assert_eq!(refused, not_found(None, &gone));
    }
    world.wait_for_queue_length(0).await;
}

#[tokio::test]
async fn waiting_turn_fails_after_the_deletion() {
    let world = World::replicas(2).await;
    let (one, other) = (world.client_of(0), world.client_of(1));
    let conversation = one.new_conversation().await;
    let asking = ask("Tell me a tale").within(&conversation);
    let (events, _, exchange) = start_tale(&world, &one, &asking).await;
    let waiting = {
        let (other, asking) = (other.clone(), ask("Hello").within(&conversation));
        tokio::spawn(async move { other.refused(Mode::Streamed, &asking).await })
    };
    world.wait_for_queue_length(2).await;

    other.delete(&format!("/v1/conversations/{conversation}")).await.json();
    exchange.release_all();

    assert_eq!(events.ended().await.status(), "failed");
    let gone = format!("Conversation with id '{conversation}' not found.");
    assert_eq!(waiting.await.unwrap(), not_found(None, &gone));
    assert_eq!(world.times_asked(), 1);
}

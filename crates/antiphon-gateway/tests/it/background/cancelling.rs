//! A caller that wants no more of it.

use serde_json::json;

use super::{create_queued, in_background, script_silence, start_tale};
use crate::support::{Mode, World, ask, invalid, lines, not_found};

#[tokio::test]
async fn cancel_before_the_first_byte_leaves_no_output() {
    let world = World::new().await;
    let client = world.client();
    let exchange = script_silence(&world);
    let id = create_queued(&client, &in_background("A tale")).await;
    world.request(0).await;

    let cancelled = client.cancel(&id).await;

    assert_eq!((&cancelled["status"], &cancelled["output"]), (&json!("cancelled"), &json!([])));
    assert_eq!(cancelled["error"], json!(null));
    world.wait_for_disconnect(&exchange).await;
    assert_eq!(client.stored_response(&id).await, cancelled);
    let received = client.stream_again(&id, None).await.ended().await;
    assert_eq!(received.response, cancelled);
}

#[tokio::test]
async fn repeated_cancel_returns_the_same_response() {
    let world = World::new().await;
    let client = world.client();
    let (events, id, exchange) = start_tale(&world, &client, &in_background("A tale")).await;

    let cancelled = client.cancel(&id).await;

    world.wait_for_disconnect(&exchange).await;
    assert_eq!((&cancelled["status"], &cancelled["output"]), (&json!("cancelled"), &json!([])));
    let turn = events.ended().await;
    assert_eq!(turn.events.last().unwrap().name, "response.failed");
    assert_eq!(turn.response, cancelled);
    assert_eq!(client.cancel(&id).await, cancelled);
    assert_eq!(client.stored_response(&id).await, cancelled);
}

#[tokio::test]
async fn cancelled_queued_response_is_never_sent() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let asking = in_background("A tale").within(&conversation);
    let (events, _, exchange) = start_tale(&world, &client, &asking).await;
    let waiting = create_queued(&client, &in_background("Another").within(&conversation)).await;

    let cancelled = client.cancel(&waiting).await;
    exchange.release_all();

    assert_eq!(cancelled["status"], "cancelled");
    assert_eq!(events.ended().await.status(), "completed");
    client.respond(&ask("Hello").within(&conversation)).await;
    assert_eq!(world.times_asked(), 2);
}

#[tokio::test]
async fn cancelled_response_can_be_continued() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    client.respond(&ask("My color is purple").within(&conversation)).await;
    let held = client.items(&conversation).await;
    let asking = in_background("My dog is Biscuit").within(&conversation);
    let (_, id, _) = start_tale(&world, &client, &asking).await;

    client.cancel(&id).await;

    assert_eq!(client.items(&conversation).await, held);
    let question = "What is my color and my dog?";
    assert_eq!(client.respond(&ask(question).within(&conversation)).await.text(), "purple");
    assert_eq!(client.respond(&ask(question).after(&id)).await.text(), "purple, Biscuit");
    assert_eq!(lines(&held).len(), 2);
}

#[tokio::test]
async fn cancelling_an_ended_response_changes_nothing() {
    let world = World::new().await;
    let client = world.client();
    let turn = client.turn(Mode::Streamed, &in_background("Hello")).await;
    assert_eq!(client.cancel(turn.id()).await, turn.response);
}

#[tokio::test]
async fn foreground_and_unknown_responses_cannot_be_cancelled() {
    let world = World::new().await;
    let client = world.client();
    let turn = client.respond(&ask("Hello")).await;
    let refused = client.post(&format!("/v1/responses/{}/cancel", turn.id()), &json!({})).await;
    let message = "Cannot cancel a synchronous response.";
    assert_eq!(refused.refused(), invalid(None, None, message));
    let never = format!("resp_{}", "0".repeat(48));
    let refused = client.post(&format!("/v1/responses/{never}/cancel"), &json!({})).await;
    let message = format!("Response with id '{never}' not found.");
    assert_eq!(refused.refused(), not_found(None, &message));
}

//! How responses in the background end is told.

use antiphon_gateway::settings::{Webhook, WebhookEvent};
use antiphon_mock::{Answer, Reply};
use serde_json::json;

use crate::support::{Ask, Client, MODEL, Mode, Receiver, World, ask, frames_until, text};

async fn world_with_webhook(webhook: Webhook) -> World {
    World::with(|settings| settings.webhooks = vec![webhook]).await
}

async fn queued(client: &Client, ask: Ask) -> String {
    let ask = ask.field("background", true);
    text(&client.create(Mode::Whole, &ask).await.json()["id"]).to_owned()
}

#[tokio::test]
async fn each_end_has_its_event() {
    let mut receiver = Receiver::answering([]).await;
    let world = world_with_webhook(receiver.webhook()).await;
    let client = world.client();
    let answer = || Answer::new(MODEL).message("Once upon a time");
    for (answer, event) in [
        (answer(), "response.completed"),
        (answer().incomplete(), "response.incomplete"),
        (answer().failed("server_error", "It broke."), "response.failed"),
    ] {
        world.script(Reply::sse(answer.frames()));
        let id = queued(&client, ask("Tell me a tale")).await;
        assert_eq!(receiver.event().await, (event.to_owned(), id));
    }
}

#[tokio::test]
async fn notified_endpoint_finds_the_response() {
    let mut receiver = Receiver::answering([]).await;
    let world = world_with_webhook(receiver.webhook()).await;
    let client = world.client();
    let id = queued(&client, ask("Hello")).await;

    let (_, received) = receiver.event().await;

    assert_eq!(received, id);
    let response = client.get(&format!("/v1/responses/{id}")).await.json();
    assert_eq!(response["status"], "completed");
}

#[tokio::test]
async fn cancelled_response_is_notified_once() {
    let mut receiver = Receiver::answering([]).await;
    let world = world_with_webhook(receiver.webhook()).await;
    let client = world.client();
    let answer = Answer::new(MODEL).message("Once upon a time");
    let until = frames_until(&answer, "response.output_text.delta");
    world.script(Reply::sse(answer.frames()).hang_after(until));
    let id = queued(&client, ask("Tell me a tale")).await;
    world.request(0).await;

    for _ in 0..2 {
        client.post(&format!("/v1/responses/{id}/cancel"), &json!({})).await;
    }
    assert_eq!(receiver.event().await, ("response.cancelled".to_owned(), id));

    let next = queued(&client, ask("Hello")).await;
    assert_eq!(receiver.event().await, ("response.completed".to_owned(), next));
}

#[tokio::test]
async fn unsubscribed_events_are_not_sent() {
    let mut receiver = Receiver::answering([]).await;
    let webhook = Webhook { events: vec![WebhookEvent::Failed], ..receiver.webhook() };
    let world = world_with_webhook(webhook).await;
    let client = world.client();
    let well = queued(&client, ask("Hello")).await;
    client.wait_until_ended(&well).await;
    client.respond(&ask("Hello")).await;
    let answer = Answer::new(MODEL).message("Once").failed("server_error", "It broke.");
    world.script(Reply::sse(answer.frames()));

    let failed = queued(&client, ask("Tell me a tale")).await;

    assert_eq!(receiver.event().await, ("response.failed".to_owned(), failed));
}

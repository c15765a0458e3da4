//! Responses expire; conversations do not.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::join;

use crate::support::{Client, MODES, Mode, SIM, World, ask, invalid, not_found, soon};

/// A gateway that keeps responses for a month.
async fn world_with_retention() -> World {
    World::with(|settings| settings.retention = Some(Duration::from_hours(30 * 24))).await
}

/// Waits until a response does not exist any more.
async fn wait_until_expired(client: &Client, response: &str) {
    let path = format!("/v1/responses/{response}");
    soon("it expires", async { while client.get(&path).await.status() == 200 {} }).await;
}

#[tokio::test]
async fn expired_response_is_not_found() {
    let mut world = world_with_retention().await;
    let received = world.client().respond(&ask("My color is purple")).await;

    world.start_after_days(31).await;

    let client = world.client();
    wait_until_expired(&client, received.id()).await;
    let unknown = not_found(None, &format!("Response with id '{}' not found.", received.id()));
    for path in ["", "/input_items", "/report"] {
        let path = format!("/v1/responses/{}{path}", received.id());
        assert_eq!(client.get(&path).await.refused(), unknown);
    }
    for mode in MODES {
        let message = format!("Previous response with id '{}' not found.", received.id());
        let expected =
            invalid(Some("previous_response_id"), Some("previous_response_not_found"), &message);
        assert_eq!(client.refused(mode, &ask("Hello").after(received.id())).await, expected);
    }
}

#[tokio::test]
async fn continuation_keeps_an_expired_response() {
    let mut world = world_with_retention().await;
    let received = world.client().respond(&ask("My color is purple")).await;
    world.start_after_days(20).await;
    let next = world.client().respond(&ask("My dog is Biscuit").after(received.id())).await;

    world.start_after_days(20).await;

    let client = world.client();
    wait_until_expired(&client, received.id()).await;
    let question = ask("What is my color and my dog?").after(next.id());
    for mode in MODES {
        assert_eq!(client.turn(mode, &question).await.text(), "purple, Biscuit");
    }
}

#[tokio::test]
async fn conversation_survives_its_expired_responses() {
    let mut world = world_with_retention().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let received = client.respond(&ask("My color is purple").within(&conversation)).await;
    let held = client.items(&conversation).await;

    world.start_after_days(400).await;

    let client = world.client();
    wait_until_expired(&client, received.id()).await;
    assert_eq!(client.items(&conversation).await, held);
    let recalled = client.respond(&ask("What is my color?").within(&conversation)).await;
    assert_eq!(recalled.text(), "purple");
}

#[tokio::test]
async fn turns_continue_while_responses_expire() {
    const RESPONSES: usize = 150;
    let mut world = world_with_retention().await;
    let client = world.client();
    let mut received = Vec::new();
    for _ in 0..RESPONSES {
        received.push(client.respond(&ask("My color is purple").model(SIM)).await);
    }

    world.start_after_days(31).await;

    let client = world.client();
    let expiry = async {
        for response in &received {
            wait_until_expired(&client, response.id()).await;
        }
    };
    let turns = async {
        let mut last = client.respond(&ask("My dog is Biscuit").model(SIM)).await;
        for mode in [Mode::Whole, Mode::Streamed].repeat(10) {
            let next = ask("What is my dog?").model(SIM).after(last.id());
            last = client.turn(mode, &next).await;
            assert!(last.text().contains("Biscuit"), "{}", last.text());
        }
        last
    };
    let ((), last) = join!(expiry, turns);
    let kept: Value = client.stored_response(last.id()).await;
    assert_eq!(kept["status"], json!("completed"));
}

#[tokio::test]
async fn responses_are_kept_without_retention() {
    let mut world = World::with(|settings| settings.retention = None).await;
    let received = world.client().respond(&ask("My color is purple")).await;

    world.start_after_days(20_000).await;

    let client = world.client();
    let question = ask("What is my color?").after(received.id());
    assert_eq!(client.respond(&question).await.text(), "purple");
    assert_eq!(client.stored_response(received.id()).await["id"], received.id());
}

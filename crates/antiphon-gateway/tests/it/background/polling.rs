//! A caller that looks from time to time.

use super::{create_queued, id_of, in_background, script_silence, script_tale};
use crate::support::{Mode, World, ask};

#[tokio::test]
async fn status_goes_from_queued_to_completed() {
    let world = World::new().await;
    let client = world.client();
    let exchange = script_silence(&world);

    let created = client.create(Mode::Whole, &in_background("Tell me a tale")).await;
    assert!(created.header("antiphon-response").is_some());
    let created = created.json();
    let id = id_of(&created);
    assert_eq!((&created["status"], &created["background"]), (&"queued".into(), &true.into()));
    client.wait_until_in_progress(&id).await;
    let begun = client.stored_response(&id).await;
    exchange.release_all();
    let ended = client.wait_until_ended(&id).await;

    assert_eq!(ended["status"], "completed");
    assert_eq!(ended["output"][0]["content"][0]["text"], "Once upon a time");
    for key in ["id", "created_at", "model", "background", "store", "metadata"] {
        assert_eq!(created[key], begun[key], "{key}");
        assert_eq!(created[key], ended[key], "{key}");
    }
    for response in [&created, &begun, &ended] {
        crate::support::assert_response_shape(response);
    }
    assert!(ended["completed_at"].is_i64());
}

#[tokio::test]
async fn ended_response_can_be_continued() {
    let world = World::new().await;
    let client = world.client();
    let exchange = script_tale(&world);
    let id = create_queued(&client, &in_background("My color is purple")).await;
    client.wait_until_in_progress(&id).await;

    let question = ask("What is my color?").after(&id);
    let (turn, ()) = tokio::join!(client.respond(&question), async { exchange.release_all() });

    assert_eq!(turn.text(), "purple");
    assert_eq!(client.stored_response(&id).await["status"], "completed");
}

#[tokio::test]
async fn upstream_failure_fails_the_response() {
    let world = World::new().await;
    let client = world.client();
    world.script(antiphon_mock::Reply::hangup());

    let id = create_queued(&client, &in_background("Tell me a tale")).await;

    let ended = client.wait_until_ended(&id).await;
    assert_eq!(ended["status"], "failed");
    assert_eq!(ended["error"]["code"], "server_error");
    assert_eq!(ended["output"], serde_json::json!([]));
}

#[tokio::test]
async fn concurrent_responses_all_complete() {
    let world = World::parallel().await;
    let client = world.client();
    let mut ids = Vec::new();
    for number in 0..20 {
        ids.push(create_queued(&client, &in_background(&format!("Echo {number}"))).await);
    }
    for id in ids {
        assert_eq!(client.wait_until_ended(&id).await["status"], "completed");
    }
}

//! A caller that looks from time to time.

use super::{a_tale, id_of, in_background, queued, silence};
use crate::support::{Mode, World, ask};

#[tokio::test]
async fn the_answer_is_queued_then_in_progress_then_completed() {
    let world = World::new().await;
    let client = world.client();
    let exchange = silence(&world);

    let created = client.create(Mode::Whole, &in_background("Tell me a tale")).await;
    assert!(created.header("antiphon-response").is_some());
    let created = created.json();
    let id = id_of(&created);
    assert_eq!((&created["status"], &created["background"]), (&"queued".into(), &true.into()));
    client.in_progress(&id).await;
    let begun = client.kept(&id).await;
    exchange.release_all();
    let ended = client.ended(&id).await;

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
    let exchange = a_tale(&world);
    let id = queued(&client, &in_background("My color is purple")).await;
    client.in_progress(&id).await;

    let question = ask("What is my color?").after(&id);
    let (turn, ()) = tokio::join!(client.respond(&question), async { exchange.release_all() });

    assert_eq!(turn.text(), "purple");
    assert_eq!(client.kept(&id).await["status"], "completed");
}

#[tokio::test]
async fn an_upstream_that_fails_fails_the_response() {
    let world = World::new().await;
    let client = world.client();
    world.script(antiphon_mock::Reply::hangup());

    let id = queued(&client, &in_background("Tell me a tale")).await;

    let ended = client.ended(&id).await;
    assert_eq!(ended["status"], "failed");
    assert_eq!(ended["error"]["code"], "server_error");
    assert_eq!(ended["output"], serde_json::json!([]));
}

#[tokio::test]
async fn many_at_once_all_end() {
    let world = World::parallel().await;
    let client = world.client();
    let mut ids = Vec::new();
    for number in 0..20 {
        ids.push(queued(&client, &in_background(&format!("Echo {number}"))).await);
    }
    for id in ids {
        assert_eq!(client.ended(&id).await["status"], "completed");
    }
}

//! The response object: all of its keys, wherever it stands.

use antiphon_mock::{Answer, Reply};
use serde_json::{Value, json};

use crate::support::{
    MODEL, MODES, Mode, World, ask, assert_response_shape, frames_until, terminal,
};

/// The response as it is kept has every key too.
async fn kept(world: &World, id: &str) -> Value {
    let response = world.client().stored_response(id).await;
    assert_response_shape(&response);
    response
}

fn answer() -> Answer {
    Answer::new(MODEL).reasoning("I greet back.").message("Hello there")
}

#[tokio::test]
async fn completed() {
    for mode in MODES {
        let world = World::new().await;
        let turn = world.client().turn(mode, &ask("Hello")).await;
        assert_eq!(kept(&world, turn.id()).await, turn.response);
        assert!(turn.response["completed_at"].is_u64());
    }
}

#[tokio::test]
async fn incomplete() {
    for mode in MODES {
        let world = World::new().await;
        world.script(Reply::sse(answer().incomplete().frames()));
        let turn = world.client().turn(mode, &ask("Hello")).await;
        assert_eq!(turn.status(), "incomplete");
        assert_eq!(kept(&world, turn.id()).await, turn.response);
        assert_eq!(turn.response["incomplete_details"], json!({"reason": "max_output_tokens"}));
        assert_eq!(turn.response["completed_at"], Value::Null);
    }
}

#[tokio::test]
async fn failed() {
    let world = World::new().await;
    let answer = answer();
    world.script(Reply::sse(answer.frames()).break_after(terminal(&answer)));
    let turn = world.client().turn(Mode::Streamed, &ask("Hello")).await;
    assert_eq!(turn.status(), "failed");
    let kept = kept(&world, turn.id()).await;
    assert_eq!((&kept["status"], &kept["error"]), (&json!("failed"), &turn.response["error"]));
    assert_eq!(kept["completed_at"], Value::Null);
}

#[tokio::test]
async fn cancelled() {
    let world = World::new().await;
    let client = world.client();
    let answer = answer();
    let begun = frames_until(&answer, "response.output_text.delta");
    world.script(Reply::sse(answer.frames()).hang_after(begun));
    let mut events = client.stream(&ask("Hello")).await;
    let id = events.response_id().await;
    events.until("response.output_text.delta").await;

    drop(events);

    let settled = client.wait_until_settled(&id).await;
    assert_response_shape(&settled);
    assert_eq!(settled["status"], "cancelled");
}

#[tokio::test]
async fn response_names_its_conversation() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        for named in [json!(conversation), json!({"id": conversation})] {
            let turn = client.turn(mode, &ask("Hello").field("conversation", named)).await;
            assert_eq!(turn.response["conversation"], json!({"id": conversation}));
            assert_eq!(kept(&world, turn.id()).await["conversation"]["id"], *conversation);
            let received = turn.events.iter().map(|event| &event.json["response"]);
            for response in received.filter(|response| !response.is_null()) {
                assert_eq!(response["conversation"]["id"], *conversation);
            }
        }
    }
}

#[tokio::test]
async fn response_names_its_previous_response() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let first = client.turn(mode, &ask("Hello")).await;
        assert_eq!(first.response["previous_response_id"], Value::Null);
        let next = client.turn(mode, &ask("Hello again").after(first.id())).await;
        assert_eq!(next.response["previous_response_id"], first.id());
        assert_eq!(kept(&world, next.id()).await, next.response);
    }
}

#[tokio::test]
async fn response_objects_in_a_stream_have_every_key() {
    let world = World::new().await;
    let turn = world.client().turn(Mode::Streamed, &ask("Hello")).await;
    for event in &turn.events[..2] {
        assert_response_shape(&event.json["response"]);
        assert_eq!(event.json["response"]["status"], "in_progress");
        assert_eq!(event.json["response"]["output"], json!([]));
        assert_eq!(event.json["response"]["usage"], Value::Null);
    }
}

//! Responses in the provider's own background.

use antiphon_mock::{Answer, Script};
use serde_json::Value;

use super::world::World;
use crate::support::{Ask, Client, MODEL, Mode, ask, frames_until, text, typed_user};

fn in_background(reply: &str) -> Ask {
    ask([typed_user(reply)]).field("background", true)
}

/// Asks for a response that is queued; the response as it is told.
async fn queued(client: &Client, asked: &Ask) -> Value {
    let queued = client.create(Mode::Whole, asked).await.json();
    assert_eq!(queued["status"], "queued");
    queued
}

#[tokio::test]
async fn background_response_is_polled_and_continued() {
    let world = World::new().await;
    let asked = in_background("My dog is Rex.");
    let response = queued(&world.client(), &asked).await;
    assert_eq!(world.last_turn().body, *asked.body());

    let id = text(&response["id"]);
    let ended = world.client().wait_until_ended(id).await;
    assert_eq!(ended["status"], "completed");
    assert_eq!(world.provider.response(id).as_ref(), Some(&ended));

    let next = ask([typed_user("What is my dog?")]).after(id);
    let next = world.client().respond(&next).await;
    assert_eq!(next.text(), "Rex");
    assert_eq!(world.sent(), ["user: What is my dog?"]);
}

#[tokio::test]
async fn background_output_is_not_resent() {
    let world = World::new().await;
    let conversation = world.client().new_conversation().await;
    let first = in_background("My dog is Rex.").within(&conversation);
    let response = queued(&world.client(), &first).await;
    world.client().wait_until_ended(text(&response["id"])).await;

    let replay = [typed_user("My dog is Rex."), typed_user("What is my dog?")];
    let next = world.client().named_ai_sdk().respond(&ask(replay).within(&conversation)).await;

    assert_eq!(next.text(), "Rex");
    assert_eq!(world.sent(), ["user: What is my dog?"]);
}

#[tokio::test]
async fn background_response_is_cancelled() {
    let world = World::new().await;
    let response = queued(&world.client(), &in_background("A tale.")).await;
    let id = text(&response["id"]);

    let cancelled = world.client().cancel(id).await;

    assert_eq!(cancelled["status"], "cancelled");
    assert_eq!(world.client().stored_response(id).await, cancelled);
}

#[tokio::test]
async fn abandoned_stream_can_be_resumed() {
    let world = World::new().await;
    let tale = Answer::new(MODEL).message("Once upon a time");
    let begun = frames_until(&tale, "response.output_text.delta");
    let exchange = world.provider.script(Script::from(tale).hang_after(begun));
    let mut events = world.client().stream(&in_background("A tale.")).await;
    let id = events.response_id().await;
    events.until("response.output_item.added").await;
    drop(events);
    world.wait_for_disconnect(&exchange).await;
    exchange.release_all();

    assert_eq!(world.client().wait_until_ended(&id).await["status"], "completed");
    let path = format!("/v1/responses/{id}?stream=true&starting_after=1");
    let again = world.client().get(&path).await;
    assert_eq!(again.header("content-type"), Some("text/event-stream; charset=utf-8"));
    assert_eq!(again.body(), world.past_gateway().get(&path).await.body());
    let received = String::from_utf8_lossy(again.body()).into_owned();
    assert!(
        !received.contains("response.created") && received.contains("Once upon a time"),
        "{received}"
    );

    let next = ask([typed_user("Go on.")]).after(&id);
    world.client().respond(&next).await;
    let given = ["user: A tale.", "assistant: Once upon a time", "user: Go on."];
    assert_eq!(world.given(), given);
}

#[tokio::test]
async fn background_stream_is_complete() {
    let world = World::new().await;
    let turn = world.client().turn(Mode::Streamed, &in_background("Hello.")).await;
    assert_eq!(turn.status(), "completed");
    let kept = world.provider.response(turn.id()).expect("the provider has it");
    assert_eq!(turn.response, kept);
}

//! A stop.

use std::time::Duration;

use antiphon_mock::{Answer, Reply};

use crate::support::{MODEL, World, ask, frames_until, soon};

#[tokio::test]
async fn open_turn_finishes_before_the_gateway_stops() {
    let mut world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let answer = Answer::new(MODEL).message("Once upon a time");
    let begun = frames_until(&answer, "response.output_text.delta");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(begun));
    let mut events = client.stream(&ask("Tell me a tale").within(&conversation)).await;
    let id = events.response_id().await;
    events.until("response.output_text.delta").await;

    let stopping = world.stop();
    exchange.release_all();
    let end = events.until("response.completed").await;
    assert_eq!(events.next().await, None);
    stopping.ended().await;

    assert_eq!(end.json["response"]["id"], id);
    world.start().await;
    assert_eq!(world.client().stored_response(&id).await, end.json["response"]);
}

#[tokio::test]
async fn gateway_without_open_turns_stops_at_once() {
    let mut world = World::new().await;
    world.client().respond(&ask("Hello")).await;
    world.stop().ended().await;
}

#[tokio::test]
async fn open_turns_are_settled_after_the_grace_period() {
    let mut world = World::with(|settings| settings.shutdown_grace = Duration::ZERO).await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let answer = Answer::new(MODEL).message("Once upon a time");
    let begun = frames_until(&answer, "response.output_text.delta");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(begun));
    let mut events = client.stream(&ask("Tell me a tale").within(&conversation)).await;
    let id = events.response_id().await;
    events.until("response.output_text.delta").await;

    world.stop().ended().await;
    soon("the upstream is left", exchange.wait_for_outcome()).await;
    let received = events.until("response.failed").await;
    let error = &received.json["response"]["error"];
    assert_eq!(error["code"], "server_error", "{error}");
    let reason = "The gateway stopped before the answer was complete. The finished items are \
                  stored.";
    assert_eq!(error["message"], reason);

    world.start().await;
    let client = world.client();
    assert_eq!(client.stored_response(&id).await["status"], "cancelled");
    client.respond(&ask("Go on").within(&conversation)).await;
    assert_eq!(world.view(1).await, ["user: Tell me a tale", "assistant: Once ", "user: Go on"]);
}

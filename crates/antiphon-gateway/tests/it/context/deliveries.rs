//! Turns that run in the background, over a WebSocket, or again.

use antiphon_mock::{Answer, Reply};

use super::{assert_equals_request, assert_sent};
use crate::support::{MODEL, Mode, World, ask, text};

#[tokio::test]
async fn context_of_a_background_turn_equals_its_request() {
    let world = World::new().await;
    let client = world.client();
    let called = client.respond(&ask("Echo hello")).await;
    let queued = ask("Hello?").after(called.id()).field("background", true);
    let queued = client.create(Mode::Whole, &queued).await.json();
    let id = text(&queued["id"]);
    client.wait_until_ended(id).await;

    let context = assert_equals_request(&client, id, &world.last_request()).await;

    assert_eq!(context["items"][3]["source"], "placeholder");
}

#[tokio::test]
async fn context_of_a_turn_over_a_socket_equals_its_request() {
    let world = World::new().await;
    let client = world.client();
    let mut socket = client.socket().await;
    let first = socket.turn(&ask("My color is purple")).await;
    let called = socket.turn(&ask("Echo hello").after(first.id())).await;
    let turn = socket.turn(&ask("Hello?").after(called.id())).await;

    let context = assert_sent(&world, &client, &turn).await;

    assert_eq!(context["items"][5]["source"], "placeholder");
}

#[tokio::test]
async fn retracted_attempt_and_its_retry_have_the_same_context() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    client.respond(&ask("Echo hello").within(&conversation)).await;
    let question = ask("What is my color?").within(&conversation);
    let answer = Answer::new(MODEL).message("Once upon a time");
    let exchange = world.script(Reply::sse(answer.frames()).hang_after(3));
    let mut stream = client.stream(&question).await;
    let left = stream.response_id().await;
    drop(stream);
    world.wait_for_disconnect(&exchange).await;

    let again = client.clone().with_header("x-stainless-retry-count", "1");
    let turn = again.turn(Mode::Streamed, &question).await;

    let context = assert_sent(&world, &client, &turn).await;
    assert_eq!(context["items"][3]["source"], "placeholder");
    let context = assert_equals_request(&client, &left, &world.last_request()).await;
    assert_eq!(context["status"], "cancelled");
}

//! A kill, and a new start on what it left.

use antiphon_mock::{Answer, Reply};
use serde_json::json;

use crate::support::{Ask, MODEL, MODES, World, ask, frames_until, output};

/// A streamed turn in the middle of which the gateway is killed; its announced id.
async fn killed_in(world: &mut World, ask: &Ask) -> String {
    let answer = Answer::new(MODEL).message("Once upon a time");
    let event = "response.output_text.delta";
    let exchange =
        world.script(Reply::sse(answer.frames()).hang_after(frames_until(&answer, event)));
    let mut events = world.client().stream(ask).await;
    let id = events.response_id().await;
    events.until(event).await;
    world.kill_and_start().await;
    world.wait_for_disconnect(&exchange).await;
    id
}

#[tokio::test]
async fn answered_turns_survive_a_restart() {
    for mode in MODES {
        let mut world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        client.turn(mode, &ask("My color is purple").within(&conversation)).await;
        let called = client.turn(mode, &ask("Echo hello").within(&conversation)).await;
        let held = client.items(&conversation).await;

        world.kill_and_start().await;

        let client = world.client();
        assert_eq!(client.stored_response(called.id()).await, called.response);
        assert_eq!(client.items(&conversation).await, held);
        let answer = ask(json!([output(called.call_id(), "hello")]));
        let echoed = client.turn(mode, &answer.clone().within(&conversation)).await;
        assert_eq!(echoed.text(), "echo said: hello");
        let branch = client.turn(mode, &answer.after(called.id())).await;
        assert_eq!(branch.text(), "echo said: hello");
    }
}

#[tokio::test]
async fn open_turn_of_a_conversation_is_settled() {
    let mut world = World::new().await;
    let conversation = world.client().new_conversation().await;
    let received = ask("My color is purple").within(&conversation);

    let id = killed_in(&mut world, &received).await;

    let client = world.client();
    assert_eq!(client.stored_response(&id).await["status"], "cancelled");
    for asking in
        [ask("What is my color?").within(&conversation), ask("What is my color?").after(&id)]
    {
        assert_eq!(client.respond(&asking).await.text(), "purple");
        assert_eq!(
            world.last_view().await,
            ["user: My color is purple", "user: What is my color?"]
        );
    }
}

#[tokio::test]
async fn open_turn_of_a_chain_is_settled() {
    let mut world = World::new().await;
    let received = world.client().respond(&ask("My color is purple")).await;

    let id = killed_in(&mut world, &ask("My dog is Biscuit").after(received.id())).await;

    let client = world.client();
    let question = "What is my color and my dog?";
    let on = client.respond(&ask(question).after(&id)).await;
    let back = client.respond(&ask(question).after(received.id())).await;
    assert_eq!((on.text(), back.text()), ("purple, Biscuit", "purple"));
}

#[tokio::test]
async fn open_turn_is_settled_once() {
    let mut world = World::new().await;
    let conversation = world.client().new_conversation().await;
    killed_in(&mut world, &ask("My color is purple").within(&conversation)).await;
    world.kill_and_start().await;
    world.kill_and_start().await;
    assert_eq!(world.client().items(&conversation).await.len(), 1);
}

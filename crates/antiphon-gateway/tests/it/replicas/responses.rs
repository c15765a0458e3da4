//! The response of a turn that is open on one gateway is gone on from on another.

use antiphon_mock::{Answer, Reply};

use crate::support::{MODEL, Mode, World, ask, frames_until, terminal};

#[tokio::test]
async fn continuation_waits_for_the_open_turn() {
    let world = World::replicas(2).await;
    let (one, other) = (world.client_of(0), world.client_of(1));
    let conversation = one.new_conversation().await;
    for asking in [ask("My color is purple"), ask("My color is purple").within(&conversation)] {
        let asked = world.times_asked();
        let answer = Answer::new(MODEL).message("Noted.");
        let exchange = world.script(Reply::sse(answer.frames()).hang_after(terminal(&answer)));
        let mut events = one.stream(&asking).await;
        let id = events.response_id().await;
        let on = {
            let (other, asking) = (other.clone(), ask("What is my color?").after(&id));
            tokio::spawn(async move { other.turn(Mode::Whole, &asking).await })
        };
        assert_eq!(world.times_asked(), asked + 1);
        exchange.release_all();
        assert_eq!(events.ended().await.id(), id);

        assert_eq!(on.await.unwrap().text(), "purple");
        assert_eq!(
            world.view(asked + 1).await,
            ["user: My color is purple", "assistant: Noted.", "user: What is my color?"]
        );
    }
}

#[tokio::test]
async fn ended_response_is_continued_at_once() {
    let world = World::replicas(2).await;
    let received = world.client_of(0).turn(Mode::Streamed, &ask("My color is purple")).await;
    let on = world.client_of(1).respond(&ask("What is my color?").after(received.id())).await;
    assert_eq!(on.text(), "purple");
}

#[tokio::test]
async fn aborted_turn_is_continued_with_its_output() {
    let world = World::replicas(2).await;
    let (one, other) = (world.client_of(0), world.client_of(1));
    let answer = Answer::new(MODEL).message("Once upon a time");
    let event = "response.output_text.delta";
    let exchange =
        world.script(Reply::sse(answer.frames()).hang_after(frames_until(&answer, event)));
    let mut events = one.stream(&ask("Tell me a tale")).await;
    let id = events.response_id().await;
    events.until(event).await;
    drop(events);

    other.respond(&ask("Go on").after(&id)).await;

    world.wait_for_disconnect(&exchange).await;
    assert_eq!(world.view(1).await, ["user: Tell me a tale", "assistant: Once ", "user: Go on"]);
}

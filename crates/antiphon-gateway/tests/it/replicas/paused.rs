//! A gateway that was paused for so long that the others took its turns over, and that then goes
//! on.

use super::start_tale;
use crate::support::{Mode, World, ask, lines};

const TAKEN_OVER: &str = "Another replica took over this turn, because this one sent no \
                          heartbeat for too long. Please retry.";

#[tokio::test]
async fn paused_gateway_does_not_commit_over_its_successor() {
    for mode in [Mode::Streamed, Mode::Whole] {
        let world = World::replicas(2).await;
        let (sleeper, other) = (world.client_of(0), world.client_of(1));
        let conversation = sleeper.new_conversation().await;
        let say = |text: &str| ask(text).within(&conversation);
        let (events, id, exchange) = start_tale(&world, &sleeper, &say("My color is purple")).await;

        world.block_heartbeats(0).await;
        let recalled = other.turn(mode, &say("What is my color?")).await;
        assert_eq!(recalled.text(), "purple");
        let held = other.items(&conversation).await;
        exchange.release_all();

        let late = events.ended().await;
        assert_eq!((late.status(), late.id()), ("failed", &*id));
        assert_eq!(late.response["error"]["message"], TAKEN_OVER);
        for client in [&sleeper, &other] {
            assert_eq!(client.items(&conversation).await, held);
            assert_eq!(client.stored_response(&id).await["status"], "cancelled");
        }
        assert_eq!(lines(&held).len(), 3);
    }
}

#[tokio::test]
async fn paused_gateway_returns_the_reason() {
    let world = World::replicas(2).await;
    let (sleeper, other) = (world.client_of(0), world.client_of(1));
    let conversation = sleeper.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);
    let answer = antiphon_mock::Answer::new(crate::support::MODEL).message("Noted.");
    let exchange = world.script(antiphon_mock::Reply::sse(answer.frames()).hang_after(3));
    let late = {
        let (sleeper, asking) = (sleeper.clone(), say("My color is purple"));
        tokio::spawn(async move { sleeper.create(Mode::Whole, &asking).await })
    };
    world.request(0).await;

    world.block_heartbeats(0).await;
    other.respond(&say("My dog is Biscuit")).await;
    exchange.release_all();

    let late = late.await.unwrap();
    assert_eq!(late.status(), 503);
    assert_eq!(late.server_error(), TAKEN_OVER);
    let held = lines(&other.items(&conversation).await);
    assert_eq!(held, ["user: My dog is Biscuit", "assistant: Noted."]);
}

#[tokio::test]
async fn retry_of_a_paused_turn_is_stored_once() {
    let world = World::replicas(2).await;
    let (sleeper, other) = (world.client_of(0), world.client_of(1));
    let conversation = sleeper.new_conversation().await;
    let question = ask("My color is purple").within(&conversation);
    let (events, _, exchange) = start_tale(&world, &sleeper, &question).await;

    world.block_heartbeats(0).await;
    let again = other.with_header("x-stainless-retry-count", "1");
    let retried = again.turn(Mode::Streamed, &question.clone().field("stream", true)).await;
    exchange.release_all();

    assert_eq!(events.ended().await.status(), "failed");
    assert_eq!(retried.text(), "Noted.");
    let held = lines(&world.client_of(1).items(&conversation).await);
    assert_eq!(held, ["user: My color is purple", "assistant: Noted."]);
}

#[tokio::test]
async fn paused_gateway_keeps_an_unclaimed_turn() {
    let world = World::replicas(2).await;
    let (sleeper, other) = (world.client_of(0), world.client_of(1));
    let conversation = sleeper.new_conversation().await;
    let asking = ask("Tell me a tale").within(&conversation);
    let (events, id, exchange) = start_tale(&world, &sleeper, &asking).await;

    world.block_heartbeats(0).await;
    exchange.release_all();

    let turn = events.ended().await;
    assert_eq!((turn.status(), turn.id()), ("completed", &*id));
    assert_eq!(other.stored_response(&id).await, turn.response);
}

#[tokio::test]
async fn reconnected_gateway_serves_again() {
    let world = World::replicas(2).await;
    let (sleeper, other) = (world.client_of(0), world.client_of(1));
    let conversation = sleeper.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);
    let (events, _, exchange) = start_tale(&world, &sleeper, &say("My color is purple")).await;
    world.block_heartbeats(0).await;
    other.respond(&say("My dog is Biscuit")).await;
    exchange.release_all();
    events.ended().await;

    world.allow_heartbeats().await;

    let question = say("What is my color and my dog?");
    assert_eq!(sleeper.respond(&question).await.text(), "purple, Biscuit");
    assert_eq!(other.respond(&question).await.text(), "purple, Biscuit");
    assert_eq!(world.upstream.refusals(), []);
}

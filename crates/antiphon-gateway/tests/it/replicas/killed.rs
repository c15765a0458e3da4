//! A gateway is killed in the middle of a turn: the others settle it once its time has run out.

use super::start_tale;
use crate::support::{Mode, World, ask, lines};

#[tokio::test]
async fn turn_of_a_dead_replica_is_settled() {
    let mut world = World::replicas(2).await;
    let (doomed, other) = (world.client_of(0), world.client_of(1));
    let conversation = doomed.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);
    let (_events, id, exchange) = start_tale(&world, &doomed, &say("My color is purple")).await;

    world.kill_replica(0).await;
    world.wait_for_disconnect(&exchange).await;

    assert_eq!(other.respond(&say("What is my color?")).await.text(), "purple");
    assert_eq!(world.last_view().await, ["user: My color is purple", "user: What is my color?"]);
    assert_eq!(other.stored_response(&id).await["status"], "cancelled");
    let branch = other.respond(&ask("What is my color?").after(&id)).await;
    assert_eq!(branch.text(), "purple");
}

#[tokio::test]
async fn waiting_turn_runs_after_a_replica_died() {
    let mut world = World::replicas(2).await;
    let (doomed, other) = (world.client_of(0), world.client_of(1));
    let conversation = doomed.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);
    let (_events, _, exchange) = start_tale(&world, &doomed, &say("My color is purple")).await;
    let waiting = {
        let (other, asking) = (other.clone(), say("What is my color?"));
        tokio::spawn(async move { other.turn(Mode::Streamed, &asking).await })
    };
    world.wait_for_queue_length(2).await;

    world.kill_replica(0).await;

    assert_eq!(waiting.await.unwrap().text(), "purple");
    world.wait_for_disconnect(&exchange).await;
}

#[tokio::test]
async fn chain_continues_from_the_announced_id() {
    let mut world = World::replicas(2).await;
    let (doomed, other) = (world.client_of(0), world.client_of(1));
    let received = doomed.respond(&ask("My color is purple")).await;
    let next = ask("My dog is Biscuit").after(received.id());
    let (_events, id, _exchange) = start_tale(&world, &doomed, &next).await;

    world.kill_replica(0).await;

    let question = "What is my color and my dog?";
    assert_eq!(other.respond(&ask(question).after(&id)).await.text(), "purple, Biscuit");
    assert_eq!(other.respond(&ask(question).after(received.id())).await.text(), "purple");
}

#[tokio::test]
async fn abandoned_turn_is_settled_once() {
    let mut world = World::replicas(3).await;
    let doomed = world.client_of(0);
    let conversation = doomed.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);
    let (_events, _, _exchange) = start_tale(&world, &doomed, &say("My color is purple")).await;

    world.kill_replica(0).await;
    let (one, other) = (world.client_of(1), world.client_of(2));
    let (first, second) = (say("Hello"), say("Hello again"));
    tokio::join!(one.respond(&first), other.respond(&second));
    world.start_replica(0).await;

    let held = lines(&world.client_of(0).items(&conversation).await);
    assert_eq!(held.len(), 5, "{held:?}");
    assert_eq!(held[0], "user: My color is purple");
    assert!(held[1..].iter().all(|line| line != "user: My color is purple"));
}

#[tokio::test]
async fn retry_replaces_a_turn_of_a_dead_replica() {
    let mut world = World::replicas(2).await;
    let (doomed, other) = (world.client_of(0), world.client_of(1));
    let conversation = doomed.new_conversation().await;
    let question = ask("My color is purple").within(&conversation);
    let streamed = question.clone().field("stream", true);
    let (_events, _, _exchange) = start_tale(&world, &doomed, &question).await;

    world.kill_replica(0).await;
    let again = other.clone().with_header("x-stainless-retry-count", "1");
    let turn = again.turn(Mode::Streamed, &streamed).await;

    assert_eq!(turn.text(), "Noted.");
    let held = lines(&other.items(&conversation).await);
    assert_eq!(held, ["user: My color is purple", "assistant: Noted."]);
}

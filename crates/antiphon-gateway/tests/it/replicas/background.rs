//! A background response is the same one on every replica.

use antiphon_gateway::settings::{Secret, Settings};
use antiphon_mock::{Answer, Reply};

use super::start_tale;
use crate::support::{Ask, MODEL, Mode, World, ask, lines, soon, text};

fn in_background(text: &str) -> Ask {
    ask(text).field("background", true)
}

fn with_own_key(settings: &mut Settings) {
    settings.upstreams[0].key = Some(Secret::new("key-of-the-gateway"));
}

#[tokio::test]
async fn background_response_is_read_on_any_replica() {
    let world = World::replicas(2).await;
    let (one, other) = (world.client_of(0), world.client_of(1));
    let (events, id, exchange) = start_tale(&world, &one, &in_background("A tale")).await;
    other.wait_until_in_progress(&id).await;
    let far = other.stream_again(&id, Some(1)).await;
    let received = events.seen().len();

    exchange.release_all();

    let turn = events.ended().await;
    assert!(turn.events.len() > received);
    assert_eq!(far.all().await, turn.events[2..]);
    assert_eq!(other.stream_again(&id, None).await.all().await, turn.events);
    assert_eq!(other.stored_response(&id).await, turn.response);
}

#[tokio::test]
async fn background_response_is_cancelled_on_any_replica() {
    let world = World::replicas(2).await;
    let (one, other) = (world.client_of(0), world.client_of(1));
    let (events, id, exchange) = start_tale(&world, &one, &in_background("A tale")).await;

    let cancelled = other.cancel(&id).await;

    assert_eq!(cancelled["status"], "cancelled");
    world.wait_for_disconnect(&exchange).await;
    assert_eq!(events.ended().await.response, cancelled);
    assert_eq!(one.cancel(&id).await, cancelled);
    assert_eq!(other.cancel(&id).await, cancelled);
}

#[tokio::test]
async fn background_response_is_deleted_on_any_replica() {
    let world = World::replicas(2).await;
    let (one, other) = (world.client_of(0), world.client_of(1));
    let (_events, id, exchange) = start_tale(&world, &one, &in_background("A tale")).await;

    other.delete(&format!("/v1/responses/{id}")).await.json();

    world.wait_for_disconnect(&exchange).await;
    for client in [&one, &other] {
        assert_eq!(client.get(&format!("/v1/responses/{id}")).await.status(), 404);
    }
}

#[tokio::test]
async fn retry_on_the_other_replica_returns_the_same_response() {
    let world = World::replicas(2).await;
    let asking = in_background("A tale");
    let [one, other] = [0, 1].map(|at| world.client_of(at).with_header("idempotency-key", "k"));
    let (_events, id, exchange) = start_tale(&world, &one, &asking.field("stream", true)).await;

    let again = in_background("A tale").field("stream", true);
    let again = other.stream(&again).await;
    exchange.release_all();

    assert_eq!(again.ended().await.id(), id);
    assert_eq!(world.times_asked(), 1);
}

#[tokio::test]
async fn silent_job_of_a_dead_replica_restarts() {
    let mut world = World::replicas_with(2, with_own_key).await;
    let (doomed, other) = (world.client_of(0), world.client_of(1));
    let conversation = doomed.new_conversation().await;
    let answer = Answer::new(MODEL).message("Once upon a time");
    world.script(Reply::sse(answer.frames()).gated().withhold_head());
    let asking = in_background("My color is purple").within(&conversation);
    let created = doomed.create(Mode::Whole, &asking).await.json();
    let id = text(&created["id"]);
    world.request(0).await;

    world.kill_replica(0).await;

    let ended = other.wait_until_ended(id).await;
    assert_eq!((&ended["status"], &ended["id"]), (&"completed".into(), &id.into()));
    assert_eq!(world.times_asked(), 2);
    let held = lines(&other.items(&conversation).await);
    assert_eq!(held, ["user: My color is purple", "assistant: Noted."]);
}

#[tokio::test]
async fn started_job_of_a_dead_replica_fails() {
    let mut world = World::replicas_with(2, with_own_key).await;
    let (doomed, other) = (world.client_of(0), world.client_of(1));
    let (events, id, _exchange) = start_tale(&world, &doomed, &in_background("A tale")).await;
    let received = events.seen().len();
    let rest = other.stream_again(&id, Some(received - 1)).await;

    world.kill_replica(0).await;

    let rest = rest.all().await;
    assert_eq!((rest.len(), &*rest[0].name), (1, "response.failed"));
    assert_eq!(rest[0].json["response"], other.stored_response(&id).await);
    assert_eq!(world.times_asked(), 1);
}

#[tokio::test]
async fn paused_replica_gives_up_a_resumed_job() {
    let world = World::replicas_with(2, with_own_key).await;
    let (sleeper, other) = (world.client_of(0), world.client_of(1));
    let (_events, id, exchange) = start_tale(&world, &sleeper, &in_background("A tale")).await;

    world.block_heartbeats(0).await;
    let failed = other.wait_until_ended(&id).await;
    exchange.release_all();

    assert_eq!(failed["status"], "failed");
    soon("the upstream is heard or left", exchange.wait_for_outcome()).await;
    for client in [&sleeper, &other] {
        assert_eq!(client.stored_response(&id).await, failed);
        let received = client.stream_again(&id, None).await.all().await;
        assert_eq!(received.last().unwrap().json["response"], failed);
    }
}

#[tokio::test]
async fn stopping_replica_hands_its_job_over() {
    let mut world = World::replicas_with(2, |settings| {
        with_own_key(settings);
        settings.shutdown_grace = std::time::Duration::ZERO;
    })
    .await;
    let (stopping, other) = (world.client_of(0), world.client_of(1));
    let answer = Answer::new(MODEL).message("Once upon a time");
    world.script(Reply::sse(answer.frames()).gated().withhold_head());
    let created = stopping.create(Mode::Whole, &in_background("Hello")).await.json();
    world.request(0).await;

    world.stop_replica(0).ended().await;

    let ended = other.wait_until_ended(text(&created["id"])).await;
    assert_eq!(ended["status"], "completed");
    assert_eq!(world.times_asked(), 2);
}

#[tokio::test]
async fn stopping_replica_still_sees_cancellations() {
    let mut world = World::replicas(2).await;
    let (stopping, other) = (world.client_of(0), world.client_of(1));
    let (events, id, exchange) = start_tale(&world, &stopping, &in_background("A tale")).await;
    let stopped = world.stop_replica(0);
    let path = format!("/v1/responses/{id}");
    soon("it refuses what is new", async { while stopping.get(&path).await.status() != 503 {} })
        .await;

    let cancelled = other.cancel(&id).await;

    assert_eq!(cancelled["status"], "cancelled");
    world.wait_for_disconnect(&exchange).await;
    assert_eq!(events.ended().await.response, cancelled);
    stopped.ended().await;
}

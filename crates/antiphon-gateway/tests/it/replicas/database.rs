//! The database itself stops, or is killed, and comes back.

use std::time::Duration;

use antiphon_gateway::settings::Settings;
use antiphon_testkit::postgres::Server;

use super::start_tale;
use crate::support::{Client, MODES, Mode, World, ask, lines};

#[tokio::test]
async fn database_restart_between_turns_is_harmless() {
    let mut server = Server::start().await;
    let world = World::replicas_on(&server, 2).await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);
    client.respond(&say("My color is purple")).await;

    for kills in [false, true] {
        if kills {
            server.kill().await;
            server.start_again().await;
        } else {
            server.restart().await;
        }
        for mode in MODES {
            assert_eq!(client.turn(mode, &say("What is my color?")).await.text(), "purple");
        }
    }
}

#[tokio::test]
async fn open_turn_survives_a_database_restart() {
    let mut server = Server::start().await;
    let world = World::replicas_on(&server, 2).await;
    let (one, other) = (world.client_of(0), world.client_of(1));
    let conversation = one.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);
    let (events, id, exchange) = start_tale(&world, &one, &say("Tell me a tale")).await;

    server.restart().await;
    exchange.release_all();

    let turn = events.ended().await;
    assert_eq!((turn.status(), turn.id()), ("completed", &*id));
    assert_eq!(other.stored_response(&id).await, turn.response);
    other.respond(&say("Go on")).await;
    assert_eq!(world.last_view().await.len(), 3);
}

/// Waits until `/readyz` gives this status: it may remember the one before for a second.
async fn wait_for_readiness(client: &Client, status: u16) {
    for _ in 0..10_000 {
        if client.get("/readyz").await.status() == status {
            return;
        }
    }
    panic!("it is never {status}");
}

#[tokio::test]
async fn readiness_follows_the_database() {
    let mut server = Server::start().await;
    let world = World::replicas_on(&server, 1).await;
    let client = world.client();
    wait_for_readiness(&client, 200).await;

    server.stop().await;
    wait_for_readiness(&client, 503).await;
    server.start_again().await;

    wait_for_readiness(&client, 200).await;
}

/// Gateways that give a turn up at once if the database is gone.
fn without_commit_wait(settings: &mut Settings) {
    settings.store.commit_wait = Duration::ZERO;
}

#[tokio::test]
async fn no_model_is_asked_without_the_database() {
    let mut server = Server::start().await;
    let world = World::replicas_on_with(&server, 1, |settings| {
        settings.store.trusted_for = Duration::ZERO;
    })
    .await;
    let client = world.client();
    client.respond(&ask("My color is purple")).await;
    let asked = world.times_asked();

    server.stop().await;
    for mode in MODES {
        let refused = client.create(mode, &ask("My color is purple")).await;
        assert_eq!(refused.status(), 503);
        assert_eq!(refused.refused().body["error"]["code"], "store_unavailable");
        assert!(refused.header("retry-after").is_some());
    }
    assert_eq!(world.times_asked(), asked);
    server.start_again().await;

    for mode in MODES {
        assert_eq!(client.turn(mode, &ask("My color is purple")).await.text(), "Noted.");
    }
}

#[tokio::test]
async fn answer_is_stored_once_the_database_is_back() {
    let mut server = Server::start().await;
    let world = World::replicas_on(&server, 1).await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let tale = ask("Tell me a tale").within(&conversation);
    let (events, id, exchange) = start_tale(&world, &client, &tale).await;

    server.stop().await;
    exchange.release_all();
    let (turn, ()) = tokio::join!(events.ended(), server.start_again());

    assert_eq!((turn.status(), turn.id()), ("completed", &*id));
    assert_eq!(client.stored_response(&id).await, turn.response);
    let held = lines(&client.items(&conversation).await);
    assert_eq!(held, ["user: Tell me a tale", "assistant: Once upon a time"]);
}

#[tokio::test]
async fn turn_without_the_database_fails_without_effect() {
    let mut server = Server::start().await;
    let world = World::replicas_on_with(&server, 2, without_commit_wait).await;
    let (one, other) = (world.client_of(0), world.client_of(1));
    let conversation = one.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);
    one.respond(&say("My color is purple")).await;
    let (events, _, exchange) = start_tale(&world, &one, &say("Tell me a tale")).await;

    server.stop().await;
    exchange.release_all();
    let turn = events.ended().await;
    let refused = other.create(Mode::Whole, &say("Hello")).await;
    server.start_again().await;

    assert_eq!(turn.status(), "failed");
    let message = turn.response["error"]["message"].as_str().unwrap();
    assert!(message.contains("store"), "{message}");
    assert!(refused.server_error().contains("store"));
    for client in [&other, &one] {
        assert_eq!(client.respond(&say("What is my color?")).await.text(), "purple");
    }
    let held = lines(&one.items(&conversation).await);
    assert_eq!(held[..2], ["user: My color is purple", "assistant: Noted."]);
    assert_eq!(world.upstream.refusals(), []);
}

#[tokio::test]
async fn failed_turn_is_settled_after_a_database_outage() {
    let mut server = Server::start().await;
    let mut world = World::replicas_on_with(&server, 2, without_commit_wait).await;
    let (one, other) = (world.client_of(0), world.client_of(1));
    let conversation = one.new_conversation().await;
    let say = |text: &str| ask(text).within(&conversation);
    let (events, id, exchange) = start_tale(&world, &one, &say("Tell me a tale")).await;
    server.stop().await;
    exchange.release_all();
    assert_eq!(events.ended().await.status(), "failed");
    server.start_again().await;

    for client in [&one, &other] {
        let refused = client.refused(Mode::Whole, &ask("Hello").after(&id)).await;
        assert_eq!(refused.body["error"]["code"], "previous_response_not_found");
    }
    world.kill_replica(0).await;
    other.respond(&say("Hello")).await;
    let held = lines(&other.items(&conversation).await);
    assert_eq!(held, ["user: Hello", "assistant: Noted."]);
}

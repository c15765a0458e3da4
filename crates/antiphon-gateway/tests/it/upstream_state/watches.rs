//! Background responses at the provider: their webhooks, and which replica polls for them.

use std::collections::BTreeSet;

use antiphon_gateway::settings::{ApiKey, Secret, Settings};
use antiphon_mock::{Answer, Reply};
use antiphon_store::Tenant;
use http::{Method, StatusCode};
use serde_json::json;

use super::world::World;
use crate::support::{Client, MODEL, Mode, Receiver, ask, text, typed_user};

/// The operator's key for the provider.
fn with_key(settings: &mut Settings) {
    settings.upstreams[0].key = Some(Secret::new("sk-of-the-operator"));
}

/// A gateway with the operator's key that sends webhooks to this receiver.
async fn sending_to(receiver: &Receiver) -> World {
    let webhook = receiver.webhook();
    World::with(|settings| {
        with_key(settings);
        settings.webhooks = vec![webhook];
    })
    .await
}

/// Asks for a response in the background; its id.
async fn queued(client: &Client, reply: &str) -> String {
    let asked = ask([typed_user(reply)]).field("background", true);
    let queued = client.create(Mode::Whole, &asked).await.json();
    assert_eq!(queued["status"], "queued");
    text(&queued["id"]).to_owned()
}

fn tale() -> Answer {
    Answer::new(MODEL).message("Once upon a time")
}

fn completed(id: &str) -> (String, String) {
    ("response.completed".to_owned(), id.to_owned())
}

/// The tokens of the polls of a response, in order.
fn polls(world: &World, id: &str) -> Vec<String> {
    let path = format!("/v1/responses/{id}");
    let requests = world.provider.requests().into_iter();
    let polls = requests.filter(|it| it.method == Method::GET && it.path == path);
    polls.map(|it| it.token).collect()
}

#[tokio::test]
async fn each_end_sends_its_webhook() {
    let mut receiver = Receiver::answering([]).await;
    let world = sending_to(&receiver).await;
    let client = world.client();
    let mut expected = BTreeSet::new();
    for (answer, event) in [
        (tale(), "response.completed"),
        (tale().incomplete(), "response.incomplete"),
        (tale().failed("server_error", "It broke."), "response.failed"),
    ] {
        world.provider.script(answer);
        expected.insert((event.to_owned(), queued(&client, event).await));
    }

    let mut received = BTreeSet::new();
    for _ in 0..expected.len() {
        received.insert(receiver.event().await);
    }

    assert_eq!(received, expected);
}

#[tokio::test]
async fn cancelled_response_sends_its_webhook() {
    let mut receiver = Receiver::answering([]).await;
    let world = sending_to(&receiver).await;
    let id = queued(&world.client(), "A tale.").await;

    world.client().cancel(&id).await;

    assert_eq!(receiver.event().await, ("response.cancelled".to_owned(), id));
}

#[tokio::test]
async fn output_is_synced_after_the_webhook() {
    let mut receiver = Receiver::answering([]).await;
    let world = sending_to(&receiver).await;
    let conversation = world.client().new_conversation().await;
    let first = ask([typed_user("My dog is Rex.")]).within(&conversation);
    let first = world.client().create(Mode::Whole, &first.field("background", true)).await.json();
    assert_eq!(receiver.event().await, completed(text(&first["id"])));

    let replay = [typed_user("My dog is Rex."), typed_user("What is my dog?")];
    let next = world.client().named_ai_sdk().respond(&ask(replay).within(&conversation)).await;

    assert_eq!(next.text(), "Rex");
    assert_eq!(world.sent(), ["user: What is my dog?"]);
}

#[tokio::test]
async fn watch_survives_the_gateway() {
    let mut receiver = Receiver::answering([]).await;
    let mut world = sending_to(&receiver).await;
    let first = queued(&world.client(), "A tale.").await;

    world.kill_and_start().await;

    assert_eq!(receiver.event().await, completed(&first));
    let second = queued(&world.client(), "Another.").await;
    assert_eq!(receiver.event().await, completed(&second), "each is sent once");
    let operator = "sk-of-the-operator".to_owned();
    assert_eq!(polls(&world, &first), [operator.clone(), operator]);
}

#[tokio::test]
async fn deleted_response_sends_no_webhook() {
    let mut receiver = Receiver::answering([]).await;
    let world = sending_to(&receiver).await;
    let deleted = queued(&world.client(), "A tale.").await;
    world.client().delete(&format!("/v1/responses/{deleted}")).await.json();

    for reply in ["One.", "Two."] {
        let id = queued(&world.client(), reply).await;
        assert_eq!(receiver.event().await, completed(&id));
    }

    assert!(polls(&world, &deleted).len() <= 1, "a response that is gone is not polled again");
}

#[tokio::test]
async fn each_tenant_has_its_own_webhooks() {
    let mut receivers = [Receiver::answering([]).await, Receiver::answering([]).await];
    let tenants = ["acme", "umbrella"];
    let mut webhooks = Vec::new();
    for (receiver, tenant) in receivers.iter().zip(tenants) {
        let mut webhook = receiver.webhook();
        webhook.tenants = vec![Tenant::new(tenant)];
        webhooks.push(webhook);
    }
    let world = World::with(|settings| {
        with_key(settings);
        settings.api_keys =
            tenants.map(|name| ApiKey::new(&format!("sk-of-{name}"), Tenant::new(name))).to_vec();
        settings.webhooks = webhooks;
    })
    .await;
    let mut ids = Vec::new();
    for (tenant, reply) in tenants.into_iter().zip(["One.", "Two."]) {
        ids.push(queued(&world.caller(&format!("sk-of-{tenant}")), reply).await);
    }

    for (receiver, id) in receivers.iter_mut().zip(&ids) {
        assert_eq!(receiver.event().await, completed(id));
    }
}

#[tokio::test]
async fn callers_token_polls_while_the_process_lives() {
    let mut receiver = Receiver::answering([]).await;
    let webhook = receiver.webhook();
    let mut world = World::with(|settings| settings.webhooks = vec![webhook]).await;
    let first = queued(&world.client(), "A tale.").await;
    assert_eq!(receiver.event().await, completed(&first));
    assert_eq!(polls(&world, &first), ["token-of-alice"; 2]);

    let lost = queued(&world.client(), "Another.").await;
    world.kill_and_start().await;

    let third = queued(&world.client(), "A third.").await;
    assert_eq!(receiver.event().await, completed(&third));
    assert_eq!(polls(&world, &lost), [""; 0], "nobody has its token any more");
}

#[tokio::test]
async fn failed_poll_is_repeated() {
    let mut receiver = Receiver::answering([]).await;
    let world = sending_to(&receiver).await;
    let id = queued(&world.client(), "A tale.").await;
    let busy =
        Reply::json(StatusCode::SERVICE_UNAVAILABLE, &json!({"error": {"message": "Busy."}}));
    world.provider.reply_instead(Method::GET, &id, busy);

    assert_eq!(receiver.event().await, completed(&id));
    assert_eq!(polls(&world, &id).len(), 3);
}

#[tokio::test]
async fn one_replica_polls_and_another_takes_over() {
    let mut receiver = Receiver::answering([]).await;
    let webhook = receiver.webhook();
    let mut world = World::replicas_with(2, |settings| {
        with_key(settings);
        settings.webhooks = vec![webhook];
    })
    .await;
    let first = queued(&world.client_of(0), "A tale.").await;
    assert_eq!(receiver.event().await, completed(&first));
    assert_eq!(polls(&world, &first).len(), 2, "one poll found it running, one found its end");

    let second = queued(&world.client_of(0), "Another.").await;
    world.kill(0).await;

    assert_eq!(receiver.event().await, completed(&second));
    assert_eq!(polls(&world, &second).len(), 2);
}

//! Quotas of conversations that an upstream keeps: they count the ledger.

use std::num::NonZeroU64;

use antiphon_gateway::settings::{Ledger, Quota, Settings};
use serde_json::json;

use super::world::World;
use crate::support::{Answer, Client, MODES, Mode, ask, text, typed_user};

fn items(count: u64) -> Quota {
    Quota { max_items: NonZeroU64::new(count), max_bytes: None }
}

/// More bytes than a short message has, and fewer than a turn has.
fn few_bytes() -> Quota {
    Quota { max_items: None, max_bytes: NonZeroU64::new(120) }
}

#[track_caller]
fn assert_refused(answer: &Answer, key: &str) {
    let refused = answer.refused();
    assert_eq!(refused.status, 403);
    assert_eq!(refused.body["error"]["code"], "quota_exceeded");
    let message = text(&refused.body["error"]["message"]);
    assert!(message.contains(&format!("({key})")), "{message}");
}

/// The first turn is taken, and fills a quota; more turns are refused before the provider has them.
async fn refuses_the_second_turn(key: &str, change: impl FnOnce(&mut Settings)) {
    let world = World::with(change).await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    client.respond(&ask("Hello").within(&conversation)).await;

    for mode in MODES {
        let more = client.create(mode, &ask("More").within(&conversation)).await;
        assert_refused(&more, key);
    }
    let queued = ask("More").within(&conversation).field("background", true);
    assert_refused(&client.create(Mode::Whole, &queued).await, key);

    assert_eq!(world.provider.turns().len(), 1);
    assert_eq!(world.items(&conversation).len(), 2);
}

#[tokio::test]
async fn items_count_without_bodies() {
    for ledger in [Ledger::Heads, Ledger::Bodies] {
        refuses_the_second_turn("max-tenant-items", |settings| {
            settings.ledger = ledger;
            settings.limits.tenant_quota = items(2);
        })
        .await;
        refuses_the_second_turn("max-conversation-items", |settings| {
            settings.ledger = ledger;
            settings.limits.conversation_quota = items(2);
        })
        .await;
    }
}

#[tokio::test]
async fn bytes_count_with_bodies() {
    refuses_the_second_turn("max-tenant-bytes", |settings| {
        settings.ledger = Ledger::Bodies;
        settings.limits.tenant_quota = few_bytes();
    })
    .await;
    refuses_the_second_turn("max-conversation-bytes", |settings| {
        settings.ledger = Ledger::Bodies;
        settings.limits.conversation_quota = few_bytes();
    })
    .await;
}

#[tokio::test]
async fn ledger_of_heads_uses_no_bytes() {
    let world = World::with(|settings| {
        settings.limits.tenant_quota = few_bytes();
        settings.limits.conversation_quota = few_bytes();
    })
    .await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    for text in ["My dog is Rex.", "My cat is Tom.", "My cow is Eve."] {
        client.respond(&ask(text).within(&conversation)).await;
    }
    client.add_items(&conversation, &[typed_user(&"long ".repeat(100))]).await;
    assert_eq!(world.items(&conversation).len(), 7);
}

async fn add(client: &Client, conversation: &str, texts: &[&str]) -> Answer {
    let items: Vec<_> = texts.iter().map(|text| typed_user(text)).collect();
    let path = format!("/v1/conversations/{conversation}/items");
    client.post(&path, &json!({"items": items})).await
}

#[tokio::test]
async fn added_items_are_rejected_before_the_provider() {
    for (key, tenant, conversation) in [
        ("max-tenant-items", items(2), Quota::default()),
        ("max-conversation-items", Quota::default(), items(2)),
        ("max-tenant-bytes", few_bytes(), Quota::default()),
        ("max-conversation-bytes", Quota::default(), few_bytes()),
    ] {
        let world = World::with(|settings| {
            settings.ledger = Ledger::Bodies;
            settings.limits.tenant_quota = tenant;
            settings.limits.conversation_quota = conversation;
        })
        .await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        assert_eq!(add(&client, &conversation, &["One"]).await.status(), 200, "{key}");
        let asked = world.provider.requests().len();

        assert_refused(&add(&client, &conversation, &["Two", "Three"]).await, key);
        let three = ["One", "Two", "Three"].map(typed_user);
        let begun = client.post("/v1/conversations", &json!({"items": three})).await;
        assert_refused(&begun, key);

        assert_eq!(world.provider.requests().len(), asked, "{key}: the provider was not asked");
        assert_eq!(world.items(&conversation).len(), 1);
        // Deletes work, and make room.
        let item = world.items(&conversation)[0].clone();
        let path = format!("/v1/conversations/{conversation}/items/{}", text(&item["id"]));
        assert_eq!(client.delete(&path).await.status(), 200);
        assert_eq!(add(&client, &conversation, &["Four"]).await.status(), 200, "{key}");
    }
}

#[tokio::test]
async fn completed_turn_is_replayed_at_a_full_quota() {
    let world = World::with(|settings| settings.limits.tenant_quota = items(2)).await;
    let client = world.client().with_header("idempotency-key", "k");
    let question = ask("Hello").within(&client.new_conversation().await);
    let first = client.respond(&question).await;

    let again = client.respond(&question).await;

    assert_eq!(again.id(), first.id());
    assert_eq!(world.provider.turns().len(), 1);
}

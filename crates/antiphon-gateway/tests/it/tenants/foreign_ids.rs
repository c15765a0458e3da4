//! What is a tenant's own, though another has the like.

use serde_json::json;

use super::belongings::held;
use super::watched::Watched;
use crate::support::{Client, ask, assistant, lines, user};

/// Adds a message under an id that was made elsewhere to a new conversation; what is told of it,
/// without ids.
async fn add_under(client: &Client, id: &str) -> (String, Vec<String>) {
    let conversation = client.new_conversation().await;
    let mut mine = assistant("Mine.");
    mine["id"] = id.into();
    let path = format!("/v1/conversations/{conversation}/items");
    let added = client.post(&path, &json!({"items": [mine]})).await;
    let item = format!("{path}/{id}");
    let mut received = vec![added.json(), client.get(&item).await.json()];
    received.push(client.delete(&item).await.json());
    received[2]["created_at"].take();
    let received = received.iter().map(|answer| answer.to_string().replace(id, "ID"));
    (conversation.clone(), received.map(|answer| answer.replace(&conversation, "ID")).collect())
}

#[tokio::test]
async fn item_added_under_a_foreign_id_is_not_found() {
    let world = Watched::new().await;
    let (owner, stranger) = (world.owner(), world.stranger());
    let ids = held(&world, &owner).await;
    let before = owner.items(&ids.conversation).await;

    let (conversation, received) = add_under(&stranger, &ids.item).await;
    let (_, expected) = add_under(&stranger, &ids.unused().item).await;

    assert_eq!(received, expected);
    assert_eq!(stranger.items(&conversation).await.len(), 0);
    assert_eq!(owner.items(&ids.conversation).await, before);
}

#[tokio::test]
async fn item_replayed_under_a_foreign_id_is_new() {
    let world = Watched::new().await;
    let ids = held(&world, &world.owner()).await;
    let mut reply = assistant("Mine.");
    reply["id"] = ids.item.into();

    world.stranger().respond(&ask(json!([user("Hello"), reply, user("Hello")]))).await;

    let request = world.upstream.request(1).await;
    let expected = ["user: Hello", "assistant: Mine.", "user: Hello"];
    assert_eq!(lines(&request.items()), expected);
}

#[tokio::test]
async fn bare_reasoning_with_a_foreign_id_is_dropped() {
    let world = Watched::new().await;
    let reasoned = antiphon_mock::Answer::new(crate::support::MODEL);
    let reasoned = reasoned.reasoning("A secret thought.").message("Hello.");
    world.upstream.script(antiphon_mock::Reply::sse(reasoned.frames()));
    let turn = world.owner().respond(&ask("Hello").encrypted()).await;
    let bare = json!({"type": "reasoning", "id": turn.item("reasoning")["id"], "summary": []});

    let replay = json!([user("Hello"), bare, assistant("Hello."), user("Go on")]);
    world.stranger().respond(&ask(replay)).await;

    let request = world.upstream.request(1).await;
    assert_eq!(lines(&request.items()), ["user: Hello", "assistant: Hello.", "user: Go on"]);
}

#[tokio::test]
async fn idempotency_key_is_scoped_to_the_tenant() {
    for (name, value) in [("idempotency-key", "one"), ("x-stainless-retry-count", "1")] {
        let world = Watched::new().await;
        let [owner, stranger] =
            [world.owner(), world.stranger()].map(|client| client.with_header(name, value));

        let theirs = owner.respond(&ask("Hello")).await;
        let own = stranger.respond(&ask("Hello")).await;

        assert_ne!(own.id(), theirs.id());
        assert_eq!(own.header("antiphon-answered-again"), None);
        assert_eq!(owner.respond(&ask("Hello")).await.id(), theirs.id());
        assert_eq!(world.upstream.requests().len(), 2);
    }
}

//! What belongs to another does not exist.

use antiphon_gateway::settings::{ApiKey, Secret};
use antiphon_store::Tenant;
use serde_json::{Value, json};

use crate::support::{Answer, Client, Mode, World, ask, reference, text, user};

/// The ids of what one caller has.
struct Belongings {
    conversation: String,
    response: String,
    item: String,
}

async fn belongings(client: &Client) -> Belongings {
    let conversation = client.new_conversation().await;
    let turn = client.respond(&ask("My color is purple").within(&conversation)).await;
    Belongings {
        conversation,
        response: turn.id().to_owned(),
        item: text(&turn.item("message")["id"]).to_owned(),
    }
}

/// Ids of the same forms that nobody ever had.
fn nothing_like(held: &Belongings) -> Belongings {
    let other = |id: &str| id.replace(|c: char| c.is_ascii_digit(), "0").replace('f', "e");
    let prefixed = |prefix: &str, id: &str| format!("{prefix}{}", other(&id[prefix.len()..]));
    Belongings {
        conversation: prefixed("conv_", &held.conversation),
        response: prefixed("resp_", &held.response),
        item: prefixed("msg_", &held.item),
    }
}

/// Everything that a caller can do with ids, as status and body without the ids.
async fn attempts(client: &Client, ids: &Belongings) -> Vec<(u16, String)> {
    let conversation = format!("/v1/conversations/{}", ids.conversation);
    let items = format!("{conversation}/items");
    let item = format!("{items}/{}", ids.item);
    let response = format!("/v1/responses/{}", ids.response);
    let refer = ask(json!([reference(&json!(ids.item)), user("Hello")]));
    let answers = vec![
        client.get(&conversation).await,
        client.post(&conversation, &json!({"metadata": {"mine": "now"}})).await,
        client.delete(&conversation).await,
        client.get(&items).await,
        client.post(&items, &json!({"items": [user("Hello")]})).await,
        client.get(&item).await,
        client.delete(&item).await,
        client.get(&response).await,
        client.get(&format!("{response}/input_items")).await,
        client.get(&format!("{response}/report")).await,
        client.delete(&response).await,
        client.create(Mode::Whole, &ask("Hello").within(&ids.conversation)).await,
        client.create(Mode::Streamed, &ask("Hello").after(&ids.response)).await,
        client.create(Mode::Whole, &refer).await,
    ];
    let anonymous = |answer: &Answer| {
        let body = answer.refused().body.to_string();
        let body = [&ids.conversation, &ids.response, &ids.item]
            .iter()
            .fold(body, |body, id| body.replace(id.as_str(), "ID"));
        (answer.status(), body)
    };
    answers.iter().map(anonymous).collect()
}

async fn assert_unharmed(client: &Client, held: &Belongings) {
    assert_eq!(client.items(&held.conversation).await.len(), 2);
    assert_eq!(client.kept(&held.response).await["id"], held.response);
    let asking = ask("What is my color?").within(&held.conversation);
    assert_eq!(client.respond(&asking).await.text(), "purple");
}

#[tokio::test]
async fn another_token_sees_nothing() {
    let world = World::new().await;
    let (alice, mallory) = (world.client(), world.caller("token-of-mallory"));
    let held = belongings(&alice).await;

    let foreign = attempts(&mallory, &held).await;
    let unknown = attempts(&mallory, &nothing_like(&held)).await;

    assert!(foreign.iter().all(|(status, _)| (400..500).contains(status)), "{foreign:#?}");
    assert_eq!(foreign, unknown);
    assert_eq!(world.times_asked(), 1);
    assert_unharmed(&alice, &held).await;
}

#[tokio::test]
async fn a_foreign_id_in_an_items_place_is_the_callers_own_item() {
    let world = World::new().await;
    let held = belongings(&world.client()).await;
    let said = json!({
        "type": "message", "id": held.item, "role": "assistant",
        "content": [{"type": "output_text", "text": "Mine.", "annotations": []}],
    });
    let mallory = world.caller("token-of-mallory");
    mallory.respond(&ask(json!([user("Hello"), said, user("Hello")]))).await;
    assert_eq!(world.view(1).await, ["user: Hello", "assistant: Mine.", "user: Hello"]);
}

async fn keyed() -> World {
    World::with(|settings| {
        settings.api_keys = vec![
            ApiKey::new("sk-first-of-acme", Tenant::new("acme")),
            ApiKey::new("sk-second-of-acme", Tenant::new("acme")),
            ApiKey::new("sk-of-umbrella-corp", Tenant::new("umbrella")),
        ];
    })
    .await
}

#[tokio::test]
async fn keys_of_one_tenant_share_and_keys_of_others_see_nothing() {
    let world = keyed().await;
    let held = belongings(&world.caller("sk-first-of-acme")).await;
    let umbrella = world.caller("sk-of-umbrella-corp");

    let foreign = attempts(&umbrella, &held).await;

    assert_eq!(foreign, attempts(&umbrella, &nothing_like(&held)).await);
    assert_unharmed(&world.caller("sk-second-of-acme"), &held).await;
}

#[tokio::test]
async fn a_wrong_key_opens_nothing() {
    let world = keyed().await;
    let wrong = "sk-0123456789abcdefghij";
    for client in [world.caller(wrong), world.nobody(), world.caller("sk-first-of-acm")] {
        for answer in [
            client.get("/v1/models").await,
            client.post("/v1/conversations", &json!({})).await,
            client.create(Mode::Streamed, &ask("Hello")).await,
            client.get("/v1/responses/resp_x").await,
        ] {
            let refused = answer.refused();
            let error = &refused.body["error"];
            assert_eq!(refused.status, 401);
            assert_eq!(error["type"], "invalid_request_error");
            assert_eq!(error["code"], "invalid_api_key");
            assert_eq!(error["param"], Value::Null);
            assert!(!error["message"].as_str().unwrap().contains("0123456789"));
        }
    }
    let answer = world.caller(wrong).get("/v1/models").await.refused();
    let message = answer.body["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("Incorrect API key provided: sk-"), "{message}");
    assert_eq!(world.times_asked(), 0);
}

#[tokio::test]
async fn a_gateways_own_key_goes_upstream_in_place_of_the_callers() {
    let world = World::with(|settings| {
        settings.upstreams[0].key = Some(Secret::new("key-of-the-gateway"));
    })
    .await;
    world.caller("token-of-alice").respond(&ask("Hello")).await;
    world.nobody().respond(&ask("Hello")).await;
    for index in 0..2 {
        let request = world.request(index).await;
        assert_eq!(request.authorization(), Some("Bearer key-of-the-gateway"));
    }
}

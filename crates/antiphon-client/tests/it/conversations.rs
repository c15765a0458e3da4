//! The Conversations API and stored responses.

use antiphon::item::given;
use antiphon_client::Request;
use antiphon_mock::{Answer, Reply};
use http::{Method, StatusCode};
use serde_json::json;

use crate::support::{MODEL, World, output, user};

#[tokio::test]
async fn many_items_are_created_in_order() {
    let world = World::start().await;
    let texts: Vec<String> = (0..45).map(|number| format!("Text {number}.")).collect();
    let items: Vec<_> = texts.iter().map(|text| user(text)).collect();
    let id = world.client.conversations().create(&items).await.unwrap();
    let listed = world.client.conversations().items(&id).await.unwrap();
    assert_eq!(listed.len(), 45);
    for (item, text) in listed.iter().zip(&texts) {
        assert!(item.text().contains(text.as_str()), "{item:?}");
    }
    world.assert_clean();
}

#[tokio::test]
async fn deleted_item_is_sent_again() {
    let world = World::start().await;
    let conversations = world.client.conversations();
    let added = conversations.add_items(&world.conversation, &[user("Hi")]).await.unwrap();
    world.answer([user("Hi"), user("More")]).await;
    assert_eq!(world.provider.turns()[0].input().len(), 1);

    let id = added[0].head().id.clone().unwrap();
    conversations.delete_item(&world.conversation, id.as_str()).await.unwrap();
    let answered = world.answer([user("Hi"), user("Last")]).await;
    assert!(answered.response_id.is_some());
    assert_eq!(world.provider.turns()[1].input().len(), 2);
    world.assert_clean();
}

#[tokio::test]
async fn deleted_conversation_is_an_error() {
    let world = World::start().await;
    let conversations = world.client.conversations();
    conversations.retrieve(&world.conversation).await.unwrap();
    conversations.delete(&world.conversation).await.unwrap();
    let error = conversations.retrieve(&world.conversation).await.unwrap_err();
    assert_eq!(error.status(), Some(404));
    let error = world.client.respond(world.request([user("Hi")])).await.unwrap_err();
    assert_eq!(error.status(), Some(404));
}

#[tokio::test]
async fn outputs_are_delivered_once_and_only_for_calls() {
    let world = World::start().await;
    world.provider.script(Answer::new(MODEL).call("call_1", "f", "{}").call("call_2", "f", "{}"));
    world.answer([user("Go")]).await;
    let conversations = world.client.conversations();
    let outputs = [output("call_1", "a"), output("call_9", "b")];
    assert_eq!(conversations.deliver(&world.conversation, &outputs).await.unwrap(), 1);
    assert_eq!(conversations.deliver(&world.conversation, &outputs).await.unwrap(), 0);
    world.answer([output("call_1", "a"), output("call_2", "c")]).await;
    assert_eq!(world.provider.turns()[1].input().len(), 1);
    world.assert_clean();
}

#[tokio::test]
async fn stored_response_is_retrieved() {
    let world = World::start().await;
    let answered = world.answer([user("Hi")]).await;
    let id = answered.response_id.unwrap();
    let responses = world.client.responses();
    let stored = responses.retrieve(&id).await.unwrap();
    assert_eq!(stored.status, "completed");
    assert_eq!(stored.output.len(), answered.output.len());
    assert_eq!(responses.input_items(&id).await.unwrap().len(), 1);
    let error = responses.cancel(&id).await.unwrap_err();
    assert_eq!(error.status(), Some(400));
    responses.delete(&id).await.unwrap();
    assert_eq!(responses.retrieve(&id).await.unwrap_err().status(), Some(404));
}

#[tokio::test]
async fn invalid_id_reaches_no_path() {
    let world = World::start().await;
    let error = world.client.responses().retrieve(&"../models".into()).await.unwrap_err();
    assert_eq!(error.to_string(), "the request is not valid: '../models' cannot be an id");
}

#[tokio::test]
async fn compaction_returns_its_items() {
    let world = World::start().await;
    let item = given::compaction("cmp_1");
    let output: serde_json::Value = serde_json::from_str(item.text()).unwrap();
    let body = json!({"object": "response.compaction", "output": [output]});
    let reply = Reply::json(StatusCode::OK, &body);
    world.provider.reply_instead(Method::POST, "/responses/compact", reply);
    let request = Request::new(MODEL).items([user("Hi")]);
    let items = world.client.responses().compact(&request).await.unwrap();
    assert_eq!(items.len(), 1);
    assert_eq!(items[0].head().kind, antiphon::Kind::Compaction);
}

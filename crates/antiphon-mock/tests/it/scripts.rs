//! Scripted answers.

use antiphon_mock::{Answer, Options, Reply, StrictProvider};
use http::{Method, StatusCode};
use serde_json::json;

use crate::client::{Client, text};

#[tokio::test]
async fn refused_turn_consumes_no_script() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    provider.script(Answer::new("fake-model").message("First"));
    assert_eq!(client.refused(json!({"model": "fake-model"})).await.0, 400);
    assert_eq!(text(&client.turn(json!({"input": "Hello"})).await), "First");
    assert_eq!(text(&client.turn(json!({"input": "Hello"})).await), "Noted.");
}

#[tokio::test]
async fn error_reply_stores_and_locks_nothing() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;
    let trouble = json!({"error": {"message": "Overloaded", "type": "server_error"}});
    provider.script(Reply::json(StatusCode::SERVICE_UNAVAILABLE, &trouble));
    let asked = json!({"model": "m", "conversation": conversation, "input": "Hello"});

    assert_eq!(client.post("/v1/responses", asked.clone()).await, (503, trouble));
    assert!(client.items(&conversation).await.is_empty());
    client.turn(asked).await;
    assert_eq!(provider.turns()[0].status, 503);
}

#[tokio::test]
async fn reply_instead_replaces_one_answer() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;
    let trouble = json!({"error": {"message": "Overloaded", "type": "server_error"}});
    let reply = Reply::json(StatusCode::SERVICE_UNAVAILABLE, &trouble);
    provider.reply_instead(Method::GET, "/items", reply);

    let path = format!("/v1/conversations/{conversation}/items");
    let added = json!({"items": [{"role": "user", "content": "Hello"}]});
    assert_eq!(client.post(&path, added).await.0, 200);
    assert_eq!(client.get(&path).await, (503, trouble));
    assert_eq!(client.get(&path).await.0, 200);
}

#[tokio::test]
async fn same_seed_gives_same_ids() {
    let mut ids = Vec::new();
    for seed in ["a", "a", "b"] {
        let options = Options { seed: Some(seed.to_owned()), ..Options::default() };
        let provider = StrictProvider::with_options(options).start().await;
        let client = Client::connect_to(&provider);
        let conversation = client.conversation().await;
        let response = client.turn(json!({"conversation": conversation, "input": "Hello"})).await;
        let items = client.items(&conversation).await;
        ids.push((conversation, response["id"].clone(), items[0]["id"].clone()));
    }
    assert_eq!(ids[0], ids[1]);
    assert_ne!(ids[0], ids[2]);
}

#[tokio::test]
async fn only_configured_models_answer() {
    let options = Options { models: vec!["one".to_owned()], ..Options::default() };
    let provider = StrictProvider::with_options(options).start().await;
    let client = Client::connect_to(&provider);
    client.turn(json!({"model": "one", "input": "Hello"})).await;
    let (status, error) = client.refused(json!({"model": "two", "input": "Hello"})).await;
    assert_eq!((status, &error["code"]), (400, &json!("model_not_found")));
    let (_, list) = client.get("/v1/models").await;
    assert_eq!(list["data"][0]["id"], "one");
    assert_eq!(client.get("/v1/models/one").await.0, 200);
    assert_eq!(client.get("/v1/models/two").await.0, 404);
}

#[tokio::test]
async fn unknown_route_is_an_invalid_url() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let (status, body) = client.get("/v1/assistants").await;
    assert_eq!(status, 404);
    assert_eq!(body["error"]["message"], "Invalid URL (GET /v1/assistants)");
}

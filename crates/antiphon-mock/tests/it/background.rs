//! Background responses.

use antiphon_mock::{Answer, Script, StrictProvider};
use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};

use crate::client::{Client, id, text, types};

async fn queued(client: &Client, more: Value) -> (String, Value) {
    let mut body = json!({"input": "Hello", "background": true});
    for (name, value) in more.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    let response = client.turn(body).await;
    (format!("/v1/responses/{}", id(&response)), response)
}

#[tokio::test]
async fn background_response_is_polled_to_completion() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let (path, response) = queued(&client, json!({})).await;

    assert_eq!((&response["status"], &response["background"]), (&json!("queued"), &json!(true)));
    assert_eq!(client.get(&path).await.1["status"], "in_progress");
    let (_, ended) = client.get(&path).await;
    assert_eq!((&ended["status"], text(&ended)), (&json!("completed"), "Noted."));
    assert_eq!(client.get(&path).await.1, ended);
    client.turn(json!({"previous_response_id": id(&response), "input": "Yes"})).await;
}

#[tokio::test]
async fn background_response_locks_its_conversation() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;
    let (path, _) = queued(&client, json!({"conversation": conversation})).await;
    let next = json!({"model": "m", "conversation": conversation, "input": "Yes"});
    assert_eq!(client.refused(next.clone()).await.1["code"], "conversation_locked");

    client.get(&path).await;
    client.get(&path).await;
    client.turn(next).await;
    assert_eq!(client.items(&conversation).await.len(), 4);
}

#[tokio::test]
async fn cancelled_response_stores_nothing() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;
    let (path, response) = queued(&client, json!({"conversation": conversation})).await;
    let cancel = format!("{path}/cancel");

    let (status, cancelled) = client.post(&cancel, json!({})).await;
    assert_eq!((status, &cancelled["status"]), (200, &json!("cancelled")));
    assert_eq!(cancelled["output"], json!([]));
    assert_eq!(client.post(&cancel, json!({})).await, (200, cancelled.clone()));
    assert_eq!(client.get(&path).await.1, cancelled);
    let stream = client.events(Method::GET, &format!("{path}?stream=true"), Bytes::new()).await;
    let events = stream.all().await;
    let kinds = ["response.created", "response.in_progress", "response.failed"];
    assert_eq!(types(&events), kinds);
    assert_eq!((&events[2]["sequence_number"], &events[2]["response"]), (&json!(2), &cancelled));
    assert!(client.items(&conversation).await.is_empty());
    let next = json!({"model": "m", "previous_response_id": id(&response), "input": "Yes"});
    assert_eq!(client.refused(next).await.1["code"], "previous_response_not_found");
    client.turn(json!({"conversation": conversation, "input": "Yes"})).await;
}

#[tokio::test]
async fn background_stream_resumes_after_disconnect() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let exchange = provider.script(Script::from(Answer::new("m").message("Hi")).hang_after(3));
    let mut stream = client.stream(json!({"input": "Hello", "background": true})).await;
    let created = stream.until("response.created").await;
    stream.until("response.output_item.added").await;
    drop(stream);
    exchange.wait_for_disconnect().await;

    let path = format!("/v1/responses/{}", id(&created["response"]));
    let resumed = format!("{path}?stream=true&starting_after=2");
    let events = client.events(Method::GET, &resumed, Bytes::new()).await.all().await;
    assert_eq!(events[0]["sequence_number"], 3);
    assert_eq!(types(&events).last(), Some(&"response.completed"));
    assert_eq!(client.get(&path).await.1["status"], "completed");
    let (_, all) = client.get("/log").await;
    assert_eq!(all.as_array().map(Vec::len), Some(3));
}

#[tokio::test]
async fn foreground_response_cannot_be_streamed_again() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let response = client.turn(json!({"input": "Hello"})).await;
    let path = format!("/v1/responses/{}?stream=true", id(&response));
    assert_eq!(client.get(&path).await.0, 400);
}

#[tokio::test]
async fn background_requires_store() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let body = json!({"model": "m", "input": "Hello", "background": true, "store": false});
    assert_eq!(client.refused(body).await.1["param"], "background");
}

#[tokio::test]
async fn deleting_a_background_response_unlocks_its_conversation() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;
    let (path, response) = queued(&client, json!({"conversation": conversation})).await;
    assert_eq!(client.delete(&path).await.0, 200);
    assert_eq!(client.get(&path).await.0, 404);
    assert!(!provider.delete_response(id(&response)));
    client.turn(json!({"conversation": conversation, "input": "Yes"})).await;
}

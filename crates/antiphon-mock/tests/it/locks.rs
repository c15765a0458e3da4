//! One turn at a time in each conversation.

use antiphon_mock::{Answer, Outcome, Script, StrictProvider};
use serde_json::json;

use crate::client::{Client, soon, types, user};

#[tokio::test]
async fn open_turn_locks_its_conversation() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;
    let exchange = provider.script(Script::from(Answer::new("m").message("Hi")).hang_after(1));
    let asked = json!({"model": "m", "conversation": conversation, "input": "Hello"});
    let mut stream = client.stream(asked.clone()).await;
    stream.until("response.created").await;

    let expected = json!({
        "type": "invalid_request_error",
        "param": "conversation",
        "code": "conversation_locked",
        "message": "Another process is currently operating on this conversation. Please retry in \
            a few seconds.",
    });
    assert_eq!(client.refused(asked.clone()).await, (400, expected.clone()));
    let path = format!("/v1/conversations/{conversation}/items");
    let (status, body) = client.post(&path, json!({"items": [user("Hi")]})).await;
    assert_eq!((status, &body["error"]), (400, &expected));
    assert!(client.items(&conversation).await.is_empty(), "no partial state is visible");

    exchange.release_all();
    stream.until("response.completed").await;
    assert_eq!(types(&client.items(&conversation).await), ["message", "message"]);
    client.turn(asked).await;
}

#[tokio::test]
async fn response_is_not_found_before_completion() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let exchange = provider.script(Script::from(Answer::new("m").message("Hi")).hang_after(1));
    let mut stream = client.stream(json!({"input": "Hello"})).await;
    let created = stream.until("response.created").await;
    let path = format!("/v1/responses/{}", created["response"]["id"].as_str().unwrap());

    assert_eq!(client.get(&path).await.0, 404);
    exchange.release_all();
    stream.until("response.completed").await;
    assert_eq!(client.get(&path).await.0, 200);
    drop(stream);
    assert_eq!(soon(exchange.wait_for_outcome()).await, Outcome::Delivered);
}

#[tokio::test]
async fn two_open_turns_can_continue_one_response() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let first = client.turn(json!({"input": "Hello"})).await;
    let next = json!({"previous_response_id": first["id"], "input": "Yes"});
    let held = provider.script(Script::from(Answer::new("m").message("Hi")).hang_after(1));
    let mut stream = client.stream(next.clone()).await;
    stream.until("response.created").await;
    client.turn(next).await;
    held.release_all();
    stream.until("response.completed").await;
}

//! The control routes for clients in other languages.

use antiphon_mock::{Hold, OnAbort, StrictProvider};
use serde_json::json;

use crate::client::{Client, echo, types};

#[tokio::test]
async fn held_answer_ends_as_on_abort_decides() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;
    assert_eq!(client.post("/hold?token=sk-one&at=behind_call", json!({})).await.0, 204);
    assert_eq!(client.post("/on-abort?outcome=nothing", json!({})).await.0, 204);
    let asked = json!({"conversation": conversation, "input": "Echo hello", "tools": echo()});
    let mut stream = client.stream(asked).await;
    let mut done = 0;
    while done < 2 {
        let event = stream.next().await.expect("it goes on to the call");
        done += usize::from(event["type"] == "response.output_item.done");
    }
    drop(stream);
    provider.wait_until_idle().await;
    assert!(client.items(&conversation).await.is_empty());
}

#[tokio::test]
async fn hold_works_from_rust_tests() {
    let provider = StrictProvider::start().await;
    provider.set_on_abort(OnAbort::StorePart);
    provider.hold("sk-one", Hold::InText);
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;
    let mut stream = client.stream(json!({"conversation": conversation, "input": "Hi"})).await;
    stream.until("response.output_text.delta").await;
    drop(stream);
    provider.wait_until_idle().await;
    assert_eq!(types(&client.items(&conversation).await), ["message"]);
}

#[tokio::test]
async fn invalid_control_parameters_are_refused() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    assert_eq!(client.post("/hold?token=sk-one&at=the_end", json!({})).await.0, 400);
    assert_eq!(client.post("/on-abort?outcome=half", json!({})).await.0, 400);
    assert_eq!(client.post("/lose", json!({})).await.0, 400);
    assert_eq!(client.post("/lose?response=resp_x", json!({})).await.0, 404);
}

#[tokio::test]
async fn lost_response_is_not_found() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let response = client.turn(json!({"input": "Hello"})).await;
    let id = response["id"].as_str().unwrap();
    assert_eq!(client.post(&format!("/lose?response={id}"), json!({})).await.0, 204);
    assert_eq!(client.get(&format!("/v1/responses/{id}")).await.0, 404);
    assert_eq!(types(response["output"].as_array().unwrap()), ["message"]);
}

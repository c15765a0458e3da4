//! Reasoning items that the caller sends back.

use antiphon_mock::StrictProvider;
use serde_json::{Value, json};

use crate::client::{Client, echo, output, text, user};

fn asked() -> Value {
    json!({"input": "Echo hello", "tools": echo()})
}

#[tokio::test]
async fn stored_reasoning_is_resolved_by_id() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let response = client.turn(asked()).await;
    let [reasoning, call] = [&response["output"][0], &response["output"][1]];
    let output = output(call["call_id"].as_str().unwrap(), "hello");
    let replay = json!({"input": [user("Echo hello"), reasoning, call, output]});
    assert_eq!(text(&client.turn(replay).await), "echo said: hello");
}

#[tokio::test]
async fn encrypted_reasoning_needs_no_stored_item() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let mut stateless = asked();
    stateless["store"] = false.into();
    stateless["include"] = json!(["reasoning.encrypted_content"]);
    let response = client.turn(stateless).await;
    let [reasoning, call] = [&response["output"][0], &response["output"][1]];
    let output = output(call["call_id"].as_str().unwrap(), "hello");
    let replay = json!({"input": [user("Echo hello"), reasoning, call, output], "store": false});
    assert_eq!(text(&client.turn(replay).await), "echo said: hello");

    let mut other = reasoning.clone();
    other["id"] = "rs_other".into();
    let forged = json!({"model": "fake-model", "input": [user("Hi"), other, call]});
    let (status, error) = client.refused(forged).await;
    assert_eq!((status, &error["code"]), (400, &json!("invalid_encrypted_content")));
}

#[tokio::test]
async fn replayed_call_without_id_needs_no_reasoning() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let response = client.turn(asked()).await;
    let mut call = response["output"][1].clone();
    let output = output(call["call_id"].as_str().unwrap(), "hello");
    call.as_object_mut().unwrap().remove("id");
    let replay = json!({"input": [user("Echo hello"), call, output]});
    assert_eq!(text(&client.turn(replay).await), "echo said: hello");
}

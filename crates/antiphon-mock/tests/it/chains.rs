//! Responses that continue others by `previous_response_id`.

use antiphon_mock::{InputItems, Options, StrictProvider};
use serde_json::json;

use crate::client::{Client, id, text, types};

#[tokio::test]
async fn response_continues_the_whole_chain() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);

    let first = client.turn(json!({"input": "My color is purple"})).await;
    let second = client.turn(json!({"previous_response_id": id(&first), "input": "Yes"})).await;
    let asked = json!({"previous_response_id": id(&second), "input": "Which color?"});
    let third = client.turn(asked).await;

    assert_eq!(text(&third), "purple");
    assert_eq!(third["previous_response_id"], second["id"]);
    assert!(third["conversation"].is_null());
    assert_eq!(third["store"], true);
    assert_eq!(id(&third).len(), "resp_".len() + 50);
    assert_eq!(provider.turns()[2].model_input.as_ref().map(Vec::len), Some(5));
}

#[tokio::test]
async fn instructions_are_not_carried_over() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let first = client.turn(json!({"input": "Hello", "instructions": "Be brief."})).await;
    assert_eq!(first["instructions"], "Be brief.");
    let second = client.turn(json!({"previous_response_id": id(&first), "input": "Yes"})).await;
    assert!(second["instructions"].is_null());
}

#[tokio::test]
async fn two_responses_can_continue_one() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let first = client.turn(json!({"input": "Hello"})).await;
    let color = json!({"previous_response_id": id(&first), "input": "My color is red"});
    client.turn(color).await;
    let asked = json!({"previous_response_id": id(&first), "input": "Which color?"});
    assert_eq!(text(&client.turn(asked).await), "I do not know.");
}

#[tokio::test]
async fn conversation_response_can_be_continued_outside_it() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;
    let said = json!({"conversation": conversation, "input": "My color is red"});
    client.turn(said).await;
    let second = client.turn(json!({"conversation": conversation, "input": "Hello"})).await;
    client.turn(json!({"conversation": conversation, "input": "My color is blue"})).await;

    let asked = json!({"previous_response_id": id(&second), "input": "Which color?"});
    assert_eq!(text(&client.turn(asked).await), "red");
    assert_eq!(client.items(&conversation).await.len(), 6);
}

#[tokio::test]
async fn stored_response_is_retrieved_and_deleted() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let response = client.turn(json!({"input": "Hello"})).await;
    let path = format!("/v1/responses/{}", id(&response));

    assert_eq!(client.get(&path).await, (200, response.clone()));
    let deleted = json!({"id": response["id"], "object": "response", "deleted": true});
    assert_eq!(client.delete(&path).await, (200, deleted));
    assert_eq!(client.get(&path).await.0, 404);
    assert_eq!(client.delete(&path).await.0, 404);
}

#[tokio::test]
async fn input_items_lists_the_request_only() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let first = client.turn(json!({"input": "Hello"})).await;
    let second = client.turn(json!({"previous_response_id": id(&first), "input": "Yes"})).await;
    let (_, list) = client.get(&format!("/v1/responses/{}/input_items", id(&second))).await;
    assert_eq!(list["data"].as_array().map(Vec::len), Some(1));
    assert_eq!(list["data"][0]["content"][0]["text"], "Yes");
}

#[tokio::test]
async fn input_items_all_lists_the_whole_context() {
    let options = Options { input_items: InputItems::All, ..Options::default() };
    let provider = StrictProvider::with_options(options).start().await;
    let client = Client::connect_to(&provider);
    let first = client.turn(json!({"input": "Hello"})).await;
    let second = client.turn(json!({"previous_response_id": id(&first), "input": "Yes"})).await;
    let path = format!("/v1/responses/{}/input_items?order=asc", id(&second));
    let (_, list) = client.get(&path).await;
    let data = list["data"].as_array().expect("it is a list");
    assert_eq!(types(data), ["message"; 3]);
    assert_eq!(data[1]["id"], first["output"][0]["id"]);
}

#[tokio::test]
async fn response_after_a_lost_one_keeps_its_context() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let first = client.turn(json!({"input": "My color is red"})).await;
    let second = client.turn(json!({"previous_response_id": id(&first), "input": "Yes"})).await;

    assert!(provider.delete_response(id(&first)));
    assert!(!provider.delete_response(id(&first)));

    let lost = json!({
        "model": "fake-model", "previous_response_id": id(&first), "input": "Hello",
    });
    let (status, error) = client.refused(lost).await;
    assert_eq!((status, &error["code"]), (400, &json!("previous_response_not_found")));
    let asked = json!({"previous_response_id": id(&second), "input": "Which color?"});
    assert_eq!(text(&client.turn(asked).await), "red");
}

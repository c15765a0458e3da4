//! Items of a conversation, one by one.

use antiphon_mock::StrictProvider;
use serde_json::json;

use crate::client::{Client, echo, id, output, text, types, user};

#[tokio::test]
async fn items_are_added_read_and_deleted() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;
    let base = format!("/v1/conversations/{conversation}");
    let path = format!("{base}/items");

    let added = json!({"items": [user("My color is red"), user("My dog is Rex")]});
    let (status, list) = client.post(&path, added).await;
    assert_eq!((status, &list["object"], &list["has_more"]), (200, &json!("list"), &json!(false)));
    assert_eq!(list["last_id"], list["data"][1]["id"]);

    let item = format!("{path}/{}", id(&list["data"][0]));
    assert_eq!(client.get(&item).await, (200, list["data"][0].clone()));
    assert_eq!(client.delete(&item).await, client.get(&base).await);
    assert_eq!(client.get(&item).await.0, 404);
    assert_eq!(client.delete(&item).await.0, 404);
    let asked = json!({"conversation": conversation, "input": "Which color?"});
    assert_eq!(text(&client.turn(asked).await), "I do not know.");
}

#[tokio::test]
async fn at_most_20_items_are_added() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let path = format!("/v1/conversations/{}/items", client.conversation().await);
    let (status, body) = client.post(&path, json!({"items": vec![user("Hi"); 21]})).await;
    assert_eq!((status, &body["error"]["code"]), (400, &json!("array_above_max_length")));
    assert_eq!(client.post(&path, json!({"items": vec![user("Hi"); 20]})).await.0, 200);
}

#[tokio::test]
async fn existing_item_cannot_be_added_again() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let path = format!("/v1/conversations/{}/items", client.conversation().await);
    let said = json!({"type": "message", "id": "msg_1", "role": "user", "content": "Hello"});
    assert_eq!(client.post(&path, json!({"items": [said]})).await.0, 200);
    let (status, body) = client.post(&path, json!({"items": [said]})).await;
    assert_eq!(status, 400);
    let message = "Duplicate item found with id msg_1. Remove duplicate items from your input and \
        try again.";
    assert_eq!(body["error"]["message"], message);
}

#[tokio::test]
async fn response_items_can_be_added_to_a_conversation() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let response = client.turn(json!({"input": "Echo hello", "tools": echo()})).await;
    let path = format!("/v1/conversations/{}/items", client.conversation().await);
    let (status, list) = client.post(&path, json!({"items": response["output"]})).await;
    assert_eq!(status, 200, "{list}");
    assert_eq!(list["data"][0]["id"], response["output"][0]["id"]);
}

#[tokio::test]
async fn reference_is_resolved_across_responses() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let asked = json!({"input": "Echo hello", "tools": echo()});
    let response = client.turn(asked).await;
    let [reasoning, call] = [&response["output"][0], &response["output"][1]];
    let call_id = call["call_id"].as_str().expect("it calls");

    let referred = json!({"input": [
        user("Echo hello"),
        {"type": "item_reference", "id": reasoning["id"]},
        {"id": call["id"]},
        output(call_id, "hello"),
    ]});
    assert_eq!(text(&client.turn(referred).await), "echo said: hello");
    let given = provider.turns()[1].model_input.clone().expect("a model was asked");
    let kinds = ["message", "reasoning", "function_call", "function_call_output"];
    assert_eq!(types(&given), kinds);
}

#[tokio::test]
async fn reference_to_deleted_item_is_refused() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;
    let asked = json!({"conversation": conversation, "input": "Hello", "store": false});
    let response = client.turn(asked).await;
    let item = id(&response["output"][0]);
    client.delete(&format!("/v1/conversations/{conversation}/items/{item}")).await;

    let referred =
        json!({"model": "fake-model", "input": [{"type": "item_reference", "id": item}]});
    assert_eq!(client.refused(referred).await.0, 404);
}

/// The provider's text: <https://github.com/openai/openai-agents-python/issues/3267>.
#[tokio::test]
async fn missing_id_is_named_by_its_place_among_the_items() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let path = format!("/v1/conversations/{}/items", client.conversation().await);
    let search = json!({"type": "file_search_call", "status": "completed", "queries": ["a"]});
    let (status, body) = client.post(&path, json!({"items": [search]})).await;
    assert_eq!((status, &body["error"]["param"]), (400, &json!("items[0].id")));
    assert_eq!(body["error"]["message"], "Missing required parameter: 'items[0].id'.");
    assert_eq!(body["error"]["code"], "missing_required_parameter");
}

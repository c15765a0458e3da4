//! Conversations store the input and the output of their turns.

use antiphon_mock::StrictProvider;
use serde_json::json;

use crate::client::{Client, echo, id, output, text, types, user};

#[tokio::test]
async fn conversation_remembers_earlier_messages() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;

    client.turn(json!({"conversation": conversation, "input": "My color is purple"})).await;
    let answer =
        client.turn(json!({"conversation": {"id": conversation}, "input": "Which color?"})).await;

    assert_eq!(text(&answer), "purple");
    assert_eq!(answer["conversation"], json!({"id": conversation}));
    assert_eq!(provider.turns()[1].model_input.as_ref().map(Vec::len), Some(3));
    assert!(provider.duplicates().is_empty());
}

#[tokio::test]
async fn stored_items_get_ids_and_completed_status() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;
    assert!(conversation.starts_with("conv_"));

    let asked = json!({"conversation": conversation, "input": "Echo hello", "tools": echo()});
    let call = client.turn(asked).await;
    let call_id = call["output"][1]["call_id"].as_str().expect("it calls").to_owned();
    let answered = json!({"conversation": conversation, "input": [output(&call_id, "hello")]});
    client.turn(answered).await;

    let items = client.items(&conversation).await;
    let kinds = ["message", "reasoning", "function_call", "function_call_output", "message"];
    assert_eq!(types(&items), kinds);
    let prefixes = ["msg_", "rs_", "fc_", "fco_", "msg_"];
    for (item, prefix) in items.iter().zip(prefixes) {
        assert_eq!(item["status"], "completed", "{item}");
        assert_eq!(id(item).strip_prefix(prefix).map(str::len), Some(50), "{item}");
    }
    assert_eq!(items[2]["id"], call["output"][1]["id"]);
    assert_eq!(items[0]["content"][0], json!({"type": "input_text", "text": "Echo hello"}));
    assert_eq!(provider.conversation_items(&conversation), Some(items));
}

#[tokio::test]
async fn unstored_response_still_enters_its_conversation() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;

    let asked = json!({"conversation": conversation, "input": "Hello", "store": false});
    let response = client.turn(asked).await;

    assert_eq!(types(&client.items(&conversation).await), ["message", "message"]);
    assert_eq!(client.get(&format!("/v1/responses/{}", id(&response))).await.0, 404);
    assert!(provider.response_ids().is_empty());
}

#[tokio::test]
async fn conversation_is_created_with_items() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let body = json!({"items": [user("My dog is Biscuit")], "metadata": {"of": "tests"}});
    let (status, conversation) = client.post("/v1/conversations", body).await;

    assert_eq!((status, &conversation["metadata"]["of"]), (200, &json!("tests")));
    assert_eq!(conversation["object"], "conversation");
    let asked = json!({"conversation": id(&conversation), "input": "Which dog?"});
    assert_eq!(text(&client.turn(asked).await), "Biscuit");
}

#[tokio::test]
async fn metadata_update_replaces_and_is_required() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let path = format!("/v1/conversations/{}", client.conversation().await);

    let (status, updated) = client.post(&path, json!({"metadata": {"a": "b"}})).await;
    assert_eq!((status, &updated["metadata"]), (200, &json!({"a": "b"})));
    assert_eq!(client.get(&path).await, (200, updated));
    let (status, refused) = client.post(&path, json!({})).await;
    assert_eq!((status, &refused["error"]["param"]), (400, &json!("metadata")));
}

#[tokio::test]
async fn deleted_conversation_is_not_found() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;
    let path = format!("/v1/conversations/{conversation}");

    let deleted = json!({"id": conversation, "object": "conversation.deleted", "deleted": true});
    assert_eq!(client.delete(&path).await, (200, deleted));

    assert_eq!(client.delete(&path).await.0, 404);
    assert_eq!(client.get(&path).await.0, 404);
    let asked = json!({"model": "fake-model", "conversation": conversation, "input": "Hello"});
    assert_eq!(client.refused(asked).await.0, 404);
}

#[tokio::test]
async fn turn_without_input_continues_the_conversation() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let (_, conversation) =
        client.post("/v1/conversations", json!({"items": [user("Hello")]})).await;

    let asked = json!({"conversation": id(&conversation), "input": []});
    assert_eq!(text(&client.turn(asked).await), "Noted.");
}

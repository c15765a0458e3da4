//! Streamed turns.

use antiphon_mock::StrictProvider;
use serde_json::json;

use crate::client::{Client, echo, types};

#[tokio::test]
async fn stream_ends_with_the_stored_response() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;
    let asked = json!({"conversation": conversation, "input": "Echo hello", "tools": echo()});
    let events = client.stream(asked).await.all().await;

    let kinds = types(&events);
    assert_eq!(kinds[..2], ["response.created", "response.in_progress"]);
    assert_eq!(kinds.last(), Some(&"response.completed"));
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], index);
        if event["response"].is_object() {
            assert_eq!(event["response"]["conversation"]["id"], conversation.as_str());
            assert_eq!(event["response"]["id"], events[0]["response"]["id"]);
            assert_eq!(event["response"]["store"], true);
        }
    }
    let response = &events[events.len() - 1]["response"];
    let id = response["id"].as_str().expect("it has an id");
    assert_eq!(provider.response(id).as_ref(), Some(response));
    assert_eq!(
        client.items(&conversation).await[1..],
        response["output"].as_array().unwrap()[..]
            .iter()
            .map(|item| {
                let mut item = item.clone();
                item["status"] = "completed".into();
                item
            })
            .collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn terminal_event_follows_storage_and_unlock() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let conversation = client.conversation().await;
    let asked = json!({"conversation": conversation, "input": "Hello"});
    let mut stream = client.stream(asked.clone()).await;
    stream.until("response.completed").await;

    assert_eq!(client.items(&conversation).await.len(), 2);
    client.turn(asked).await;
    drop(stream);
    assert_eq!(client.items(&conversation).await.len(), 4);
}

#[tokio::test]
async fn encrypted_content_is_sent_if_included() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let asked = json!({"input": "Echo hello", "tools": echo()});
    let plain = client.turn(asked.clone()).await;
    assert!(plain["output"][0]["encrypted_content"].is_null());

    let mut asked = asked;
    asked["include"] = json!(["reasoning.encrypted_content"]);
    let sealed = client.turn(asked).await;
    assert!(sealed["output"][0]["encrypted_content"].is_string());
}

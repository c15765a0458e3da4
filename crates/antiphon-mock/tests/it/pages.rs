//! Paged lists.

use antiphon_mock::StrictProvider;
use serde_json::{Value, json};

use crate::client::{Client, user};

/// Creates a conversation with `count` messages, `1` to `count`.
async fn conversation_of(client: &Client, count: usize) -> String {
    let path = format!("/v1/conversations/{}/items", client.conversation().await);
    for number in 1..=count {
        client.post(&path, json!({"items": [user(&number.to_string())]})).await;
    }
    path
}

fn texts(list: &Value) -> Vec<&str> {
    let data = list["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    data.iter().map(|item| item["content"][0]["text"].as_str().unwrap_or_default()).collect()
}

#[tokio::test]
async fn first_page_lists_the_latest_20() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let path = conversation_of(&client, 21).await;
    let (_, list) = client.get(&path).await;
    assert_eq!(texts(&list).len(), 20);
    assert_eq!(texts(&list)[..2], ["21", "20"]);
    assert_eq!(list["has_more"], true);
}

#[tokio::test]
async fn next_page_starts_after_last_id() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let path = conversation_of(&client, 3).await;
    let (_, first) = client.get(&format!("{path}?order=asc&limit=2")).await;
    assert_eq!((texts(&first), &first["has_more"]), (vec!["1", "2"], &json!(true)));
    assert_eq!(first["first_id"], first["data"][0]["id"]);

    let last = first["last_id"].as_str().expect("it has a last id");
    let (_, second) = client.get(&format!("{path}?order=asc&limit=2&after={last}")).await;
    assert_eq!((texts(&second), &second["has_more"]), (vec!["3"], &json!(false)));
}

#[tokio::test]
async fn empty_list_has_no_first_or_last_id() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let path = conversation_of(&client, 0).await;
    let empty = json!({
        "object": "list", "data": [], "first_id": null, "last_id": null, "has_more": false,
    });
    assert_eq!(client.get(&path).await, (200, empty));
}

#[tokio::test]
async fn invalid_page_parameters_are_refused() {
    let provider = StrictProvider::start().await;
    let client = Client::connect_to(&provider);
    let path = conversation_of(&client, 1).await;
    for (query, param) in [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=many", "limit"),
        ("order=up", "order"),
    ] {
        let (status, body) = client.get(&format!("{path}?{query}")).await;
        assert_eq!((status, &body["error"]["param"]), (400, &json!(param)), "{query}");
    }
    assert_eq!(client.get(&format!("{path}?after=msg_unknown")).await.0, 404);
}

//! Conversations themselves.

use serde_json::{Value, json};

use crate::support::{World, ask, invalid, lines, output, user};

#[tokio::test]
async fn conversation_is_created_retrieved_and_updated() {
    let world = World::new().await;
    let client = world.client();
    let created =
        client.post("/v1/conversations", &json!({"metadata": {"topic": "colors"}})).await.json();
    let id = created["id"].as_str().unwrap();
    assert!(id.starts_with("conv_"));
    assert_eq!(created["object"], "conversation");
    assert_eq!(created["metadata"], json!({"topic": "colors"}));
    assert!(created["created_at"].as_u64() > Some(1_700_000_000));
    let path = format!("/v1/conversations/{id}");
    assert_eq!(client.get(&path).await.json(), created);

    let changed = client.post(&path, &json!({"metadata": {"topic": "dogs"}})).await.json();

    let mut expected = created.clone();
    expected["metadata"] = json!({"topic": "dogs"});
    assert_eq!(changed, expected);
    assert_eq!(client.get(&path).await.json(), expected);
}

#[tokio::test]
async fn unknown_parameter_is_rejected() {
    let world = World::new().await;
    let client = world.client();
    let id = client.new_conversation().await;
    let unknown = |name: &str| {
        let message = format!("Unknown parameter: '{name}'.");
        invalid(Some(name), Some("unknown_parameter"), &message)
    };
    for (path, name) in [
        ("/v1/conversations".to_owned(), "meta_data"),
        (format!("/v1/conversations/{id}"), "items"),
        (format!("/v1/conversations/{id}"), "title"),
    ] {
        let body = json!({"metadata": {"topic": "colors"}, name: []});
        assert_eq!(client.post(&path, &body).await.refused(), unknown(name), "{path}");
    }
    let kept = client.get(&format!("/v1/conversations/{id}")).await.json();
    assert_eq!(kept["metadata"], json!({}));
}

#[tokio::test]
async fn conversation_can_be_created_empty() {
    let world = World::new().await;
    let client = world.client();
    for body in ["", "{}", r#"{"metadata":null,"items":null}"#, r#"{"items":[]}"#] {
        let created = client.post_raw("/v1/conversations", body).await.json();
        assert_eq!(created["metadata"], json!({}));
        let id = created["id"].as_str().unwrap();
        assert_eq!(client.items(id).await, [] as [Value; 0]);
    }
}

#[tokio::test]
async fn update_requires_metadata() {
    let world = World::new().await;
    let client = world.client();
    let id = client.new_conversation().await;
    let answer = client.post(&format!("/v1/conversations/{id}"), &json!({})).await;
    let code = Some("missing_required_parameter");
    let expected = invalid(Some("metadata"), code, "Missing required parameter: 'metadata'.");
    assert_eq!(answer.refused(), expected);
}

#[tokio::test]
async fn conversation_can_be_created_with_items() {
    let world = World::new().await;
    let client = world.client();
    let items = json!([
        {"role": "system", "content": "Be brief."},
        user("My color is purple"),
        {"type": "function_call", "call_id": "call_1", "name": "echo", "arguments": "{}"},
        output(&json!("call_1"), "hello"),
    ]);
    let created = client.post("/v1/conversations", &json!({"items": items})).await.json();
    let id = created["id"].as_str().unwrap();

    let recalled = client.respond(&ask("What is my color?").within(id)).await;

    assert_eq!(recalled.text(), "purple");
    assert_eq!(recalled.header("antiphon-repairs"), None);
    assert_eq!(
        world.view(0).await,
        [
            "system: Be brief.",
            "user: My color is purple",
            "call echo {}",
            "output: hello",
            "user: What is my color?",
        ]
    );
    assert_eq!(lines(&client.items(id).await).len(), 6);
}

#[tokio::test]
async fn retrieved_item_equals_the_listed_one() {
    let world = World::new().await;
    let client = world.client();
    let id = client.new_conversation().await;
    client.respond(&ask("Echo hello").within(&id)).await;
    for item in client.items(&id).await {
        let path = format!("/v1/conversations/{id}/items/{}", item["id"].as_str().unwrap());
        assert_eq!(client.get(&path).await.json(), item);
    }
}

#[tokio::test]
async fn added_items_are_returned_as_stored() {
    let world = World::new().await;
    let client = world.client();
    let id = client.new_conversation().await;
    let added = client.add_items(&id, &[user("One"), user("Two")]).await;
    assert_eq!(added, client.items(&id).await);
    assert_eq!(lines(&added), ["user: One", "user: Two"]);
}

#[tokio::test]
async fn compaction_trigger_is_not_stored() {
    let world = World::new().await;
    let client = world.client();
    let id = client.new_conversation().await;
    let body = json!({"items": [user("One"), {"type": "compaction_trigger"}]});
    let message = "Invalid 'items[1]': a compaction_trigger is not an item of a conversation. It \
                   is the final input item of a request.";
    let expected = invalid(Some("items[1]"), Some("invalid_value"), message);
    for path in ["/v1/conversations".to_owned(), format!("/v1/conversations/{id}/items")] {
        assert_eq!(client.post(&path, &body).await.refused(), expected);
    }
    assert!(client.items(&id).await.is_empty());
}

//! Limits on counts and lengths.

use serde_json::{Map, Value, json};

use crate::support::{MODES, Refused, World, ask, echo_tool, invalid, user};

fn pairs(count: usize) -> Value {
    let pairs = (0..count).map(|number| (format!("key-{number}"), json!("value")));
    Value::Object(pairs.collect::<Map<_, _>>())
}

fn too_many_properties() -> Refused {
    invalid(
        Some("metadata"),
        Some("object_above_max_properties"),
        "Invalid 'metadata': too many properties. Expected an object with at most 16 properties, \
         but got an object with 17 properties instead.",
    )
}

fn array_too_long(path: &str, maximum: usize, length: usize) -> Refused {
    let message = format!(
        "Invalid '{path}': array too long. Expected an array with maximum length {maximum}, but \
         got an array with length {length} instead."
    );
    invalid(Some(path), Some("array_above_max_length"), &message)
}

#[tokio::test]
async fn metadata_is_limited_to_sixteen_pairs() {
    let world = World::new().await;
    let client = world.client();
    for mode in MODES {
        let ask = ask("Hello");
        let refused = client.refused(mode, &ask.clone().field("metadata", pairs(17))).await;
        assert_eq!(refused, too_many_properties());

        let turn = client.turn(mode, &ask.field("metadata", pairs(16))).await;
        assert_eq!(turn.response["metadata"], pairs(16));
    }
}

#[tokio::test]
async fn conversation_metadata_is_limited_to_sixteen_pairs() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    for path in ["/v1/conversations".to_owned(), format!("/v1/conversations/{conversation}")] {
        let answer = client.post(&path, &json!({"metadata": pairs(17)})).await;
        assert_eq!(answer.refused(), too_many_properties());
        let answer = client.post(&path, &json!({"metadata": pairs(16)})).await;
        assert_eq!(answer.json()["metadata"], pairs(16));
    }
}

#[tokio::test]
async fn metadata_keys_and_values_are_limited_in_length() {
    let world = World::new().await;
    let client = world.client();
    let long_key = json!({"k".repeat(65): "value"});
    let long_value = json!({"key": "v".repeat(513)});
    let longest = json!({"k".repeat(64): "ü".repeat(512)});
    for metadata in [long_key, long_value] {
        for (path, body) in [
            ("/v1/responses", ask("Hello").field("metadata", metadata.clone()).body().clone()),
            ("/v1/conversations", json!({"metadata": metadata})),
        ] {
            let refused = client.post(path, &body).await.refused();
            let error = &refused.body["error"];
            assert_eq!(refused.status, 400);
            assert_eq!(error["type"], "invalid_request_error");
            assert_eq!(error["code"], "string_above_max_length", "{error}");
            assert!(error["param"].as_str().unwrap().starts_with("metadata"), "{error}");
        }
    }
    let turn = client.respond(&ask("Hello").field("metadata", longest.clone())).await;
    assert_eq!(turn.response["metadata"], longest);
}

#[tokio::test]
async fn tools_are_limited_to_128() {
    let world = World::new().await;
    let client = world.client();
    let tools = |count| Value::Array(vec![echo_tool(); count]);
    for mode in MODES {
        let refused = client.refused(mode, &ask("Hello").field("tools", tools(129))).await;
        assert_eq!(refused, array_too_long("tools", 128, 129));
        client.turn(mode, &ask("Hello").field("tools", tools(128))).await;
    }
}

#[tokio::test]
async fn added_items_are_limited_to_twenty() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let items = |count: usize| json!({"items": vec![user("Hello"); count]});
    for path in ["/v1/conversations".to_owned(), format!("/v1/conversations/{conversation}/items")]
    {
        let answer = client.post(&path, &items(21)).await;
        assert_eq!(answer.refused(), array_too_long("items", 20, 21));
        client.post(&path, &items(20)).await.json();
    }
    assert_eq!(client.items(&conversation).await.len(), 20);
}

#[tokio::test]
async fn invalid_added_items_are_named_by_path() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let path = format!("/v1/conversations/{conversation}/items");
    let wrong = [
        (json!({"items": "Hello"}), "items", "invalid_type"),
        (json!({"items": [user("Hello"), 5]}), "items[1]", "invalid_type"),
        (json!({"items": [{"role": 5}]}), "items[0].role", "invalid_type"),
        (json!({}), "items", "missing_required_parameter"),
    ];
    for (body, param, code) in wrong {
        let refused = client.post(&path, &body).await.refused();
        let error = &refused.body["error"];
        assert_eq!(refused.status, 400);
        assert_eq!((&error["param"], &error["code"]), (&json!(param), &json!(code)));
    }
    assert_eq!(client.items(&conversation).await, [] as [Value; 0]);
}

#[tokio::test]
async fn duplicate_item_id_is_rejected() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let path = format!("/v1/conversations/{conversation}/items");
    let item = json!({"type": "message", "id": "msg_twice", "role": "user", "content": "Hello"});
    let duplicate = invalid(
        Some("items"),
        None,
        "Duplicate item found with id msg_twice. Remove duplicate items from your input and try \
         again.",
    );
    let twice = json!({"items": [item, item]});
    assert_eq!(client.post(&path, &twice).await.refused(), duplicate);
    assert_eq!(client.items(&conversation).await, [] as [Value; 0]);

    let once = json!({"items": [item]});
    client.post(&path, &once).await.json();
    assert_eq!(client.post(&path, &once).await.refused(), duplicate);
    assert_eq!(client.items(&conversation).await.len(), 1);
}

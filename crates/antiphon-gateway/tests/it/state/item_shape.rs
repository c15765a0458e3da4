//! Items as lists show them: complete, whatever they came with.

use serde_json::{Value, json};

use crate::support::{World, ask, ids, only, output};

#[tokio::test]
async fn items_have_type_and_prefixed_id() {
    let world = World::new().await;
    let client = world.client();
    let id = client.new_conversation().await;
    let say = |input: Value| ask(input).within(&id);
    let called = client.respond(&say(json!([{"role": "user", "content": "Echo hello"}]))).await;
    client.respond(&say(json!([output(called.call_id(), "hello")]))).await;

    let items = client.items(&id).await;

    let prefixes = ["msg_", "rs_", "fc_", "fc", "msg_"];
    for (item_id, prefix) in ids(&items).into_iter().zip(prefixes) {
        assert!(item_id.starts_with(prefix), "{item_id}");
        assert!(item_id.len() <= 64);
    }
    let kinds: Vec<&Value> = items.iter().map(|item| &item["type"]).collect();
    assert_eq!(kinds, ["message", "reasoning", "function_call", "function_call_output", "message"]);
    for item in items.iter().filter(|item| item["type"] != "reasoning") {
        assert_eq!(item["status"], "completed", "{item}");
    }
}

#[tokio::test]
async fn text_content_is_shown_as_a_list_of_parts() {
    let world = World::new().await;
    let client = world.client();
    let id = client.new_conversation().await;
    let added = client
        .add_items(
            &id,
            &[
                json!({"role": "user", "content": "Hello"}),
                json!({"role": "assistant", "content": "Noted."}),
            ],
        )
        .await;
    assert_eq!(added[0]["content"], json!([{"type": "input_text", "text": "Hello"}]));
    assert_eq!(added[1]["content"][0]["type"], "output_text");
    assert_eq!(added[1]["content"][0]["text"], "Noted.");
    assert_eq!(added[1]["content"][0]["annotations"], json!([]));
}

#[tokio::test]
async fn unknown_items_are_shown_unchanged() {
    let world = World::new().await;
    let client = world.client();
    let id = client.new_conversation().await;
    let item = json!({"type": "acme:telemetry", "payload": {"n": 1.5}});
    let added = client.add_items(&id, std::slice::from_ref(&item)).await;
    let shown = only(&added, "acme:telemetry");
    assert_eq!(shown["payload"], item["payload"]);
}

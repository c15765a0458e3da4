//! Who gets to see it.

use serde_json::{Value, json};

use crate::support::{Client, MODES, Turn, World, ask, list, only, output, text};

const QUERY: &str = "include[]=reasoning.encrypted_content";

/// Every place where a caller can see the reasoning of a turn in a conversation.
async fn shown(client: &Client, conversation: &str, turn: &Turn, query: &str) -> Vec<Value> {
    let id = text(&turn.item("reasoning")["id"]);
    let items = format!("/v1/conversations/{conversation}/items");
    let kept = client.get(&format!("/v1/responses/{}?{query}", turn.id())).await.json();
    let listed = client.get(&format!("{items}?{query}")).await.json();
    vec![
        only(list(&kept["output"]), "reasoning").clone(),
        only(list(&listed["data"]), "reasoning").clone(),
        client.get(&format!("{items}/{id}?{query}")).await.json(),
    ]
}

#[tokio::test]
async fn encrypted_reasoning_is_hidden_by_default() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;

        let called = client.turn(mode, &ask("Echo hello").within(&conversation)).await;

        for event in &called.events {
            let text = String::from_utf8_lossy(&event.data);
            assert!(!text.contains("encrypted_content"), "{text}");
        }
        assert!(!called.response.to_string().contains("encrypted_content"));
        for item in shown(&client, &conversation, &called, "").await {
            assert!(item.get("encrypted_content").is_none(), "{item}");
        }
    }
}

#[tokio::test]
async fn encrypted_reasoning_is_shown_on_request() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;

        let ask = ask("Echo hello").within(&conversation).encrypted();
        let called = client.turn(mode, &ask).await;

        let content = &called.item("reasoning")["encrypted_content"];
        assert!(content.is_string());
        let done = called.events.iter().filter(|it| it.name == "response.output_item.done");
        let received = done.filter(|it| it.json["item"]["type"] == "reasoning");
        for event in received {
            assert_eq!(event.json["item"]["encrypted_content"], *content);
        }
        for item in shown(&client, &conversation, &called, QUERY).await {
            assert_eq!(item["encrypted_content"], *content);
        }
        for item in shown(&client, &conversation, &called, "").await {
            assert!(item.get("encrypted_content").is_none(), "{item}");
        }
    }
}

#[tokio::test]
async fn input_items_show_encrypted_reasoning_on_request() {
    let world = World::new().await;
    let client = world.client();
    let called = client.respond(&ask("Echo hello").unstored().encrypted()).await;
    let mut replay = vec![json!({"role": "user", "content": "Echo hello"})];
    replay.extend_from_slice(called.output());
    replay.push(output(called.call_id(), "hello"));
    let echoed = client.respond(&ask(replay)).await;

    let path = format!("/v1/responses/{}/input_items", echoed.id());
    let plain = client.get(&path).await.json();
    let asked = client.get(&format!("{path}?{QUERY}")).await.json();

    let reasoning = |page: &Value| only(list(&page["data"]), "reasoning").clone();
    assert!(reasoning(&plain).get("encrypted_content").is_none());
    assert_eq!(
        reasoning(&asked)["encrypted_content"],
        called.item("reasoning")["encrypted_content"]
    );
}

#[tokio::test]
async fn include_query_accepts_both_spellings() {
    let world = World::new().await;
    let client = world.client();
    let called = client.respond(&ask("Echo hello")).await;
    for query in
        [QUERY, "include=reasoning.encrypted_content", "include%5B%5D=reasoning.encrypted_content"]
    {
        let path = format!("/v1/responses/{}?{query}", called.id());
        let kept = client.get(&path).await.json();
        let reasoning = only(list(&kept["output"]), "reasoning");
        assert!(reasoning["encrypted_content"].is_string(), "{query}");
    }
}

//! Conversation sessions of the Agents SDKs: items are read from a conversation, replayed without
//! naming it, and added to it afterwards.

use serde_json::{Value, json};

use crate::support::{Client, MODES, Mode, World, ask, output, typed_user, without};

/// A session: ids of reasoning are kept, those of calls and messages are stripped.
struct Session {
    client: Client,
    mode: Mode,
    conversation: String,
}

impl Session {
    async fn run(&self, text: &str) {
        let mut input = self.client.items(&self.conversation).await;
        let known = input.len();
        input.push(typed_user(text));
        loop {
            let replay: Vec<Value> = input.iter().map(stripped).collect();
            let turn = self.client.turn(self.mode, &ask(replay)).await;
            input.extend_from_slice(turn.output());
            let calls = turn.output().iter();
            let calls: Vec<&Value> = calls.filter(|item| item["type"] == "function_call").collect();
            if calls.is_empty() {
                break;
            }
            let mut answer = output(&calls[0]["call_id"], "hello");
            answer["status"] = "completed".into();
            input.push(answer);
        }
        let new: Vec<Value> = input[known..].iter().map(stripped).collect();
        self.client.add_items(&self.conversation, &new).await;
    }
}

fn stripped(item: &Value) -> Value {
    match item["type"].as_str() {
        Some("reasoning") => item.clone(),
        _ => without(item, "id"),
    }
}

#[tokio::test]
async fn replayed_session_is_stored_once() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let session = Session { client, mode, conversation };

        session.run("My color is purple").await;
        session.run("Echo hello").await;
        session.run("What is my color?").await;

        assert_eq!(
            world.last_view().await,
            [
                "user: My color is purple",
                "assistant: Noted.",
                "user: Echo hello",
                "reasoning",
                r#"call echo {"text":"hello"}"#,
                "output: hello",
                "assistant: echo said: hello",
                "user: What is my color?",
            ]
        );
        let held = session.client.items(&session.conversation).await;
        assert_eq!(held.len(), 9);
    }
}

#[tokio::test]
async fn added_reasoning_matches_the_stored_item() {
    let world = World::new().await;
    let client = world.client();
    let called = client.respond(&ask("Echo hello")).await;
    let conversation = client.new_conversation().await;
    let reasoning = called.item("reasoning");
    assert!(reasoning.get("encrypted_content").is_none());

    let added = client.add_items(&conversation, std::slice::from_ref(reasoning)).await;

    assert_eq!(added[0]["id"], reasoning["id"]);
    let path = format!(
        "/v1/conversations/{conversation}/items/{}?include[]=reasoning.encrypted_content",
        reasoning["id"].as_str().unwrap()
    );
    let shown = client.get(&path).await.json();
    assert!(shown["encrypted_content"].is_string(), "{shown}");
}

#[tokio::test]
async fn output_with_a_status_passes_unchanged() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let called = client.turn(mode, &ask("Echo hello")).await;
        let mut answer = output(called.call_id(), "hello");
        answer["status"] = "completed".into();

        let echoed = client.turn(mode, &ask(json!([answer])).after(called.id())).await;

        assert_eq!(echoed.text(), "echo said: hello");
        assert_eq!(world.request(1).await.input()[3], answer);
    }
}

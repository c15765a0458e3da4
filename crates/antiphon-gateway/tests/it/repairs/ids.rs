//! Ids of a wrong shape, and ids that stand twice.

use serde_json::{Value, json};

use crate::support::{MODES, World, ask, call, lines, output, typed_user, user};

fn reply(id: &str) -> Value {
    json!({
        "type": "message",
        "id": id,
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Noted.", "annotations": []}],
    })
}

#[tokio::test]
async fn malformed_id_is_not_sent() {
    let overlong = format!("msg_{}", "x".repeat(61));
    for mode in MODES {
        for (id, repairs) in [("item_abc", "malformed_id=1"), (overlong.as_str(), "overlong_id=1")]
        {
            let world = World::new().await;
            let history = json!([typed_user("Hello"), reply(id), typed_user("Hello")]);

            let turn = world.client().turn(mode, &ask(history)).await;

            assert_eq!(turn.header("antiphon-repairs"), Some(repairs));
            assert_eq!(world.view(0).await, ["user: Hello", "assistant: Noted.", "user: Hello"]);
            assert_ne!(world.request(0).await.input()[1]["id"], id);
        }
    }
}

#[tokio::test]
async fn missing_id_is_added() {
    for mode in MODES {
        let world = World::new().await;
        let search = json!({"type": "web_search_call", "status": "completed"});
        let history = json!([typed_user("Hello"), search, reply("msg_1"), typed_user("Hello")]);

        let turn = world.client().turn(mode, &ask(history)).await;

        assert_eq!(turn.header("antiphon-repairs"), Some("missing_id=1"));
        let id = world.request(0).await.input()[1]["id"].clone();
        assert!(id.as_str().is_some_and(|id| id.starts_with("ws_")), "{id}");
    }
}

#[tokio::test]
async fn empty_call_id_is_replaced() {
    for mode in MODES {
        let world = World::new().await;
        let history =
            json!([typed_user("Echo hello"), call("", "hello"), output(&json!(""), "hello"),]);

        let echoed = world.client().turn(mode, &ask(history)).await;

        assert_eq!(echoed.text(), "echo said: hello");
        assert_eq!(echoed.header("antiphon-repairs"), Some("empty_call_id=1"));
        assert_eq!(
            world.view(0).await,
            ["user: Echo hello", r#"call echo {"text":"hello"}"#, "output: hello"]
        );
    }
}

#[tokio::test]
async fn duplicate_item_is_sent_once() {
    for mode in MODES {
        let world = World::new().await;
        let history = json!([
            typed_user("Hello"),
            reply("msg_twice"),
            reply("msg_twice"),
            typed_user("Hello"),
        ]);

        let turn = world.client().turn(mode, &ask(history)).await;

        assert_eq!(turn.header("antiphon-repairs"), Some("duplicate_item=1"));
        assert_eq!(world.view(0).await, ["user: Hello", "assistant: Noted.", "user: Hello"]);
    }
}

#[tokio::test]
async fn different_message_with_a_used_id_is_new() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Value| ask(input).within(&conversation);
        let named = |text: &str| {
            let mut message = user(text);
            message["id"] = "msg_of_the_client".into();
            message
        };
        client.turn(mode, &say(json!([named("My color is purple")]))).await;

        let asked = client.turn(mode, &say(json!([named("What is my color?")]))).await;

        assert_eq!(asked.text(), "purple");
        assert_eq!(asked.header("antiphon-repairs"), Some("used_id=1"));
        assert_eq!(
            lines(&client.items(&conversation).await),
            [
                "user: My color is purple",
                "assistant: Noted.",
                "user: What is my color?",
                "assistant: purple",
            ]
        );
        assert_eq!(world.view(1).await.len(), 3);
    }
}

#[tokio::test]
async fn equal_message_with_its_id_is_a_resend() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let mut message = user("My color is purple");
    message["id"] = "msg_of_the_client".into();
    let say = |input: Value| ask(input).within(&conversation);
    client.respond(&say(json!([message]))).await;

    let asked = client.respond(&say(json!([message, user("What is my color?")]))).await;

    assert_eq!(asked.header("antiphon-resent"), Some("1"));
    assert_eq!(world.view(1).await.len(), 3);
}

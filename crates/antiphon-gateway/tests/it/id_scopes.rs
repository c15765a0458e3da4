//! Servers that number their ids anew for every response: one id, many items.

use serde_json::{Value, json};

use crate::support::{MODES, World, ask, call, output, user};

fn message(id: &str, text: &str) -> Value {
    json!({
        "type": "message", "id": id, "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    })
}

#[tokio::test]
async fn replayed_message_id_is_scoped_to_its_thread() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        for text in ["The first thread's", "The second thread's"] {
            client
                .turn(mode, &ask(json!([user("Hello"), message("msg_7", text), user("Go on")])))
                .await;
        }
        assert_eq!(world.view(1).await[1], "assistant: The second thread's");
    }
}

#[tokio::test]
async fn replayed_call_id_is_scoped_to_its_thread() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        for (call_id, text) in [("call_1", "one"), ("call_9", "nine")] {
            let mut called = call(call_id, text);
            called["id"] = "fc_1".into();
            let input = json!([user("Echo it"), called, output(&call_id.into(), text)]);
            let echoed = client.turn(mode, &ask(input)).await;
            assert_eq!(echoed.text(), format!("echo said: {text}"));
        }
    }
}

#[tokio::test]
async fn calls_with_equal_ids_are_answered_after_replays() {
    let world = World::new().await;
    let client = world.client();
    let mut input = vec![user("Echo both")];
    for call_id in ["call_1", "call_2"] {
        let mut called = call(call_id, call_id);
        called["id"] = "fc_1".into();
        input.extend([called, output(&call_id.into(), call_id)]);
    }
    for _ in 0..2 {
        let echoed = client.respond(&ask(json!(input))).await;
        assert_eq!(echoed.text(), "echo said: call_2");
    }
}

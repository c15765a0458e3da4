//! A refusal leaves no trace.

use serde_json::{Value, json};

use crate::support::{Ask, MODES, World, ask, output, reference, user};

/// Turns that are refused, for all sorts of reasons.
fn refused_turns(received: &str) -> Vec<Ask> {
    let many: Value = (0..17).map(|number| (number.to_string(), Value::from(""))).collect();
    vec![
        ask(json!(5)),
        ask(json!([])).field("model", Value::Null),
        ask("Hello").field("model", 5),
        ask(json!([user("Hello"), 5])),
        ask("Hello").field("metadata", many),
        ask("Hello").field("tools", json!({})),
        ask("Hello").after(received),
        ask(json!([output(&json!("call_unknown"), "hello")])),
        ask(json!([user("Hello"), reference(&json!("msg_unknown"))])),
        ask("Hello").field("store", "no"),
    ]
}

#[tokio::test]
async fn rejected_turn_does_not_change_its_conversation() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let received = client.turn(mode, &ask("My color is purple").within(&conversation)).await;
        let held = client.items(&conversation).await;

        for ask in refused_turns(received.id()) {
            let ask = ask.within(&conversation);
            let refused = client.refused(mode, &ask).await;
            assert!((400..500).contains(&refused.status), "{refused:?}");
            assert_eq!(client.items(&conversation).await, held, "{refused:?}");
        }

        assert_eq!(world.times_asked(), 1);
        let recalled = client.turn(mode, &ask("What is my color?").within(&conversation)).await;
        assert_eq!(recalled.text(), "purple");
        assert_eq!(
            world.view(1).await,
            ["user: My color is purple", "assistant: Noted.", "user: What is my color?"]
        );
    }
}

#[tokio::test]
async fn rejected_turn_does_not_change_its_chain() {
    let world = World::new().await;
    let client = world.client();
    let received = client.respond(&ask("My color is purple")).await;
    for mode in MODES {
        let unknown = ask(json!([output(&json!("call_unknown"), "hello")])).after(received.id());
        assert_eq!(client.refused(mode, &unknown).await.status, 400);
    }
    let recalled = client.respond(&ask("What is my color?").after(received.id())).await;
    assert_eq!(recalled.text(), "purple");
}

//! LangChain with `conversation`: every request carries the whole list of messages.

use serde_json::{Value, json};

use crate::support::{MODES, World, ask, assistant_again, output, typed_user, without};

/// Reasoning and call as LangChain replays them: with their ids, without statuses.
fn replayed(output: &[Value]) -> Vec<Value> {
    output.iter().map(|item| without(item, "status")).collect()
}

#[tokio::test]
async fn tool_loop_resends_are_recognized() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let mut messages = vec![typed_user("Echo hello")];
        let called = client.turn(mode, &ask(messages.clone()).within(&conversation)).await;

        messages.extend(replayed(called.output()));
        messages.push(output(called.call_id(), "hello"));
        let echoed = client.turn(mode, &ask(messages).within(&conversation)).await;

        assert_eq!(echoed.text(), "echo said: hello");
        assert_eq!(echoed.header("antiphon-resent"), Some("3"));
        assert_eq!(echoed.header("antiphon-repairs"), None);
        assert_eq!(
            world.view(1).await,
            ["user: Echo hello", "reasoning", r#"call echo {"text":"hello"}"#, "output: hello"]
        );
        assert_eq!(client.items(&conversation).await.len(), 5);
    }
}

#[tokio::test]
async fn report_lists_resent_items() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let say = |input: Vec<Value>| ask(input).within(&conversation);
    let called = client.respond(&say(vec![typed_user("Echo hello")])).await;
    let mut messages = vec![typed_user("Echo hello")];
    messages.extend(replayed(called.output()));
    messages.push(output(called.call_id(), "hello"));

    let echoed = client.respond(&say(messages)).await;

    let held = client.items(&conversation).await;
    let resent = |position: usize, kind: &str, rule: &str| {
        json!({
            "position": position,
            "type": kind,
            "item_id": held[position]["id"],
            "rule": rule,
            "differs": false,
        })
    };
    assert_eq!(
        client.report(echoed.id()).await,
        json!({
            "object": "antiphon.report",
            "request_id": echoed.header("x-request-id"),
            "input_items": 4,
            "superseding": false, "truncated": [],
            "retries": 0,
            "resent": [
                resent(0, "message", "replayed"),
                resent(1, "reasoning", "same_id"),
                resent(2, "function_call", "same_id"),
            ],
            "repairs": [],
            "adapted_fields": [],
            "stream": [],
            "truncated": [],
        })
    );
}

#[tokio::test]
async fn report_names_a_resent_item_after_its_deletion() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let first = typed_user("Say one");
    let said = client.respond(&ask(vec![first.clone()]).within(&conversation)).await;
    let mut messages = vec![first];
    messages.extend(replayed(said.output()));
    messages.push(typed_user("Say two"));
    let again = client.respond(&ask(messages).within(&conversation)).await;
    let before = client.report(again.id()).await;
    let id = before["resent"][0]["item_id"].as_str().expect("the item has an id");

    client.delete(&format!("/v1/conversations/{conversation}/items/{id}")).await;

    assert_eq!(before["resent"].as_array().expect("a list").len(), 2);
    assert_eq!(client.report(again.id()).await, before);
}

#[tokio::test]
async fn full_replay_with_ids_is_recognized() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let mut messages = vec![typed_user("My color is purple")];
        for (message, tool) in [("Echo hello", true), ("What is my color?", false)] {
            let turn = client.turn(mode, &ask(messages.clone()).within(&conversation)).await;
            messages.push(assistant_again(turn.item("message")));
            messages.push(typed_user(message));
            if tool {
                let called = client.turn(mode, &ask(messages.clone()).within(&conversation)).await;
                messages.extend(replayed(called.output()));
                messages.push(output(called.call_id(), "hello"));
            }
        }

        let recalled = client.turn(mode, &ask(messages).within(&conversation)).await;

        assert_eq!(recalled.text(), "purple");
        assert_eq!(recalled.header("antiphon-resent"), Some("7"));
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
    }
}

#[tokio::test]
async fn repeated_system_prompt_is_sent_once() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let system = json!({"type": "message", "role": "system", "content": "Be brief."});
    let say = |input: &[Value]| ask(input.to_vec()).within(&conversation);
    let received = client.respond(&say(&[system.clone(), typed_user("My color is purple")])).await;

    let again = [
        system.clone(),
        typed_user("My color is purple"),
        assistant_again(received.item("message")),
        typed_user("What is my color?"),
    ];
    let recalled = client.respond(&say(&again)).await;

    assert_eq!(recalled.header("antiphon-resent"), Some("3"));
    assert_eq!(
        world.view(1).await,
        [
            "system: Be brief.",
            "user: My color is purple",
            "assistant: Noted.",
            "user: What is my color?",
        ]
    );
}

#[tokio::test]
async fn changed_system_prompt_replaces_the_first() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let system = |text: &str| json!({"type": "message", "role": "system", "content": text});
    let say = |input: &[Value]| ask(input.to_vec()).within(&conversation);
    client.respond(&say(&[system("Be brief."), typed_user("My color is purple")])).await;

    client.respond(&say(&[system("Be kind."), typed_user("What is my color?")])).await;

    let view = world.view(1).await;
    assert!(view.contains(&"system: Be kind.".to_owned()), "{view:?}");
    assert!(!view.contains(&"system: Be brief.".to_owned()), "{view:?}");
    assert_eq!(view.len(), 4);
}

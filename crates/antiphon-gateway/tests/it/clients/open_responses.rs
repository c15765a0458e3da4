//! The Open Responses provider of the AI SDK: full items, in one edition without ids and
//! reasoning, in the next with them.

use serde_json::Value;

use crate::support::{
    Ask, MODES, World, ask, assistant, assistant_again, call_again, output, typed_user,
};

const WITH_REASONING: [&str; 6] = [
    "user: Echo hello",
    "reasoning",
    r#"call echo {"text":"hello"}"#,
    "output: hello",
    "assistant: echo said: hello",
    "user: What is my color?",
];

/// A history as both editions begin it, up to the tool's output; then all of it with a question.
/// `replayed` tells how the items of an answer are sent again.
async fn histories(
    world: &World,
    mode: crate::support::Mode,
    state: impl Fn(Ask) -> Ask,
    replayed: impl Fn(&Value) -> Option<Value>,
) -> crate::support::Turn {
    let client = world.client();
    let mut history = vec![typed_user("Echo hello")];
    let called = client.turn(mode, &state(ask(history.clone()))).await;
    history.extend(called.output().iter().filter_map(&replayed));
    history.push(output(called.call_id(), "hello"));
    let echoed = client.turn(mode, &state(ask(history.clone()))).await;
    history.extend(echoed.output().iter().filter_map(&replayed));
    history.push(typed_user("What is my color?"));
    client.turn(mode, &state(ask(history))).await
}

/// The edition without ids and reasoning.
fn bare(item: &Value) -> Option<Value> {
    match item["type"].as_str()? {
        "function_call" => Some(call_again(item)),
        "message" => Some(assistant(item["content"][0]["text"].as_str()?)),
        _ => None,
    }
}

/// The edition with the ids of messages, reasoning and calls.
fn with_ids(item: &Value) -> Option<Value> {
    match item["type"].as_str()? {
        "message" => Some(assistant_again(item)),
        _ => Some(item.clone()),
    }
}

#[tokio::test]
async fn stateless_history_without_ids_is_sent_unchanged() {
    for mode in MODES {
        let world = World::new().await;
        let turn = histories(&world, mode, |ask| ask, bare).await;
        assert_eq!(turn.header("antiphon-resent"), Some("0"));
        assert_eq!(turn.header("antiphon-repairs"), None);
        assert_eq!(
            world.view(2).await,
            [
                "user: Echo hello",
                r#"call echo {"text":"hello"}"#,
                "output: hello",
                "assistant: echo said: hello",
                "user: What is my color?",
            ]
        );
    }
}

#[tokio::test]
async fn history_without_ids_is_recognized_in_a_conversation() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.client().new_conversation().await;
        let turn = histories(&world, mode, |ask| ask.within(&conversation), bare).await;
        assert_eq!(turn.header("antiphon-resent"), Some("4"));
        assert_eq!(world.view(2).await, WITH_REASONING);
    }
}

#[tokio::test]
async fn stateless_history_with_ids_is_sent_with_reasoning() {
    for mode in MODES {
        let world = World::new().await;
        let turn = histories(&world, mode, |ask| ask, with_ids).await;
        assert_eq!(turn.header("antiphon-repairs"), None);
        assert_eq!(world.view(2).await, WITH_REASONING);
    }
}

#[tokio::test]
async fn history_with_ids_is_recognized_in_a_conversation() {
    for mode in MODES {
        let world = World::new().await;
        let conversation = world.client().new_conversation().await;
        let turn = histories(&world, mode, |ask| ask.within(&conversation), with_ids).await;
        assert_eq!(turn.header("antiphon-resent"), Some("5"));
        assert_eq!(world.view(2).await, WITH_REASONING);
    }
}

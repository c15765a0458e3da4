//! A LangGraph checkpointer replays the whole history, with state on the server or without.

use antiphon_mock::{Answer, Reply};
use serde_json::{Value, json};

use crate::support::{
    Ask, Client, MODEL, MODES, Mode, World, ask, assistant, assistant_again, typed_user, without,
};

/// A turn that the model thinks about before it says `Noted.`
async fn receive(world: &World, client: &Client, mode: Mode, ask: &Ask) -> (Value, Value, String) {
    let answer = Answer::new(MODEL).reasoning("A color.").message("Noted.");
    world.script(Reply::sse(answer.frames()));
    let turn = client.turn(mode, ask).await;
    let (reasoning, message) = (turn.item("reasoning"), turn.item("message"));
    (reasoning.clone(), message.clone(), turn.id().to_owned())
}

const VIEW: [&str; 4] =
    ["user: My color is purple", "reasoning", "assistant: Noted.", "user: What is my color?"];

fn first() -> Ask {
    ask(vec![typed_user("My color is purple")])
}

fn replay(reasoning: &Value, message: &Value) -> Ask {
    ask(vec![
        typed_user("My color is purple"),
        reasoning.clone(),
        assistant_again(message),
        typed_user("What is my color?"),
    ])
}

#[tokio::test]
async fn replay_within_a_conversation_is_recognized() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let (reasoning, message, _) =
            receive(&world, &client, mode, &first().within(&conversation)).await;

        let ask = replay(&reasoning, &message).within(&conversation);
        let recalled = client.turn(mode, &ask).await;

        assert_eq!(recalled.text(), "purple");
        assert_eq!(recalled.header("antiphon-resent"), Some("3"));
        assert_eq!(world.view(1).await, VIEW);
    }
}

#[tokio::test]
async fn replay_after_a_previous_response_is_recognized() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let (reasoning, message, received) = receive(&world, &client, mode, &first()).await;

        let ask = replay(&reasoning, &message).after(&received);
        let recalled = client.turn(mode, &ask).await;

        assert_eq!(recalled.text(), "purple");
        assert_eq!(recalled.header("antiphon-resent"), Some("3"));
        assert_eq!(world.view(1).await, VIEW);
    }
}

#[tokio::test]
async fn stateless_replay_reaches_the_model_unchanged() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let stateless = |ask: Ask| ask.unstored().encrypted();
        let (reasoning, message, _) = receive(&world, &client, mode, &stateless(first())).await;
        assert!(reasoning["encrypted_content"].is_string());

        // Without storing, the ids of messages are dropped and those of reasoning stay.
        let ask = stateless(replay(&reasoning, &without(&message, "id")));
        let recalled = client.turn(mode, &ask).await;

        assert_eq!(recalled.text(), "purple");
        assert_eq!(recalled.header("antiphon-resent"), Some("0"));
        assert_eq!(recalled.header("antiphon-repairs"), None);
        assert_eq!(world.view(1).await, VIEW);
    }
}

#[tokio::test]
async fn orphaned_reasoning_is_dropped_and_reported() {
    for (orphan, fault) in [
        (json!({"type": "reasoning", "id": "rs_orphan", "summary": []}), "bare_reasoning=1"),
        (sealed("rs_orphan"), "lone_reasoning=1"),
    ] {
        let world = World::new().await;
        let client = world.client();
        let (reasoning, message, _) = receive(&world, &client, Mode::Streamed, &first()).await;
        let history = vec![
            typed_user("My color is purple"),
            reasoning.clone(),
            assistant_again(&message),
            typed_user("And my dog"),
            orphan,
            typed_user("What is my color?"),
        ];

        let recalled = client.respond(&ask(history)).await;

        assert_eq!(recalled.text(), "purple");
        assert_eq!(recalled.header("antiphon-repairs"), Some(fault));
        let report = client.report(recalled.id()).await;
        assert_eq!(report["repairs"][0]["position"], 4);
        assert_eq!(report["repairs"][0]["item_id"], "rs_orphan");
        assert_eq!(report["repairs"][0]["action"], "dropped");
        assert_eq!(
            world.last_view().await,
            [
                "user: My color is purple",
                "reasoning",
                "assistant: Noted.",
                "user: And my dog",
                "user: What is my color?",
            ]
        );
    }
}

#[tokio::test]
async fn orphaned_reasoning_in_a_conversation_is_dropped() {
    let world = World::new().await;
    let client = world.client();
    let conversation = client.new_conversation().await;
    let ask_first = first().within(&conversation);
    let (reasoning, message, _) = receive(&world, &client, Mode::Streamed, &ask_first).await;
    let history = vec![
        typed_user("My color is purple"),
        reasoning,
        assistant("Noted."),
        typed_user("And my dog"),
        sealed("rs_orphan"),
        typed_user("What is my color?"),
    ];

    let recalled = client.respond(&ask(history).within(&conversation)).await;

    assert_eq!(message["type"], "message");
    assert_eq!(recalled.text(), "purple");
    assert_eq!(recalled.header("antiphon-resent"), Some("3"));
    assert_eq!(recalled.header("antiphon-repairs"), Some("lone_reasoning=1"));
    let next = client.respond(&ask("What is my color?").within(&conversation)).await;
    assert_eq!(next.text(), "purple");
    world.last_view().await;
}

fn sealed(id: &str) -> Value {
    let content = antiphon_mock::encrypted_content(MODEL, id);
    json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": content})
}

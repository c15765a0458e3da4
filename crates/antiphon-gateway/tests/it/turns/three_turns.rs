//! The three turns: a fact, a tool, and a question about the fact.

use serde_json::{Value, json};

use crate::support::three_turns::{FACT, QUESTION, Replay, TOOL, assert_views};
use crate::support::{MODES, SIM, World, ask, output, typed_user, user};

#[tokio::test]
async fn conversation_needs_only_new_input() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Value| ask(input).within(&conversation);

        client.turn(mode, &say(FACT.into())).await;
        let called = client.turn(mode, &say(TOOL.into())).await;
        let answer = output(called.call_id(), "hello");
        client.turn(mode, &say(json!([answer]))).await;
        let recalled = client.turn(mode, &say(QUESTION.into())).await;

        assert_eq!(recalled.text(), "purple, Biscuit");
        assert_views(&world, "").await;
        assert_eq!(client.items(&conversation).await.len(), 9);
    }
}

#[tokio::test]
async fn chain_of_responses_needs_only_new_input() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();

        let received = client.turn(mode, &ask(FACT)).await;
        let called = client.turn(mode, &ask(TOOL).after(received.id())).await;
        let answer = json!([output(called.call_id(), "hello")]);
        let echoed = client.turn(mode, &ask(answer).after(called.id())).await;
        let recalled = client.turn(mode, &ask(QUESTION).after(echoed.id())).await;

        assert_eq!(recalled.text(), "purple, Biscuit");
        assert_eq!(recalled.response["previous_response_id"], echoed.id());
        assert_views(&world, "").await;
    }
}

#[tokio::test]
async fn replaying_client_gets_the_same_views() {
    for mode in MODES {
        let world = World::new().await;
        let mut replay = Replay::new(world.client(), mode, ask);

        replay.turn(user(FACT)).await;
        let called = replay.turn(typed_user(TOOL)).await;
        replay.turn(output(&called["call_id"], "hello")).await;
        let recalled = replay.turn(user(QUESTION)).await;

        assert_eq!(recalled["content"][0]["text"], "purple, Biscuit");
        assert_views(&world, "").await;
    }
}

#[tokio::test]
async fn built_in_model_remembers_earlier_turns() {
    for mode in MODES {
        let world = World::with(|settings| settings.upstreams.clear()).await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Value| ask(input).model(SIM).within(&conversation);

        client.turn(mode, &say(FACT.into())).await;
        let called = client.turn(mode, &say(TOOL.into())).await;
        let answer = output(called.call_id(), "hello");
        let echoed = client.turn(mode, &say(json!([answer]))).await;
        let recalled = client.turn(mode, &say(QUESTION.into())).await;

        assert_eq!(echoed.text(), "echo returned: hello");
        assert!(recalled.text().contains("purple"), "{}", recalled.text());
        assert!(recalled.text().contains("Biscuit"), "{}", recalled.text());
    }
}

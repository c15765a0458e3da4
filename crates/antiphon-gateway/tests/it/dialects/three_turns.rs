//! The three turns: a fact, a tool, and a question about the fact.

use antiphon_mock::Api;
use serde_json::{Value, json};

use super::{Dialect, OTHERS, ask_with_reasoning};
use crate::support::three_turns::{FACT, QUESTION, Replay, TOOL, WHOLE, assert_views};
use crate::support::{MODES, Mode, World, ask, output, typed_user, user};

async fn assert_dialogue(dialect: Dialect, world: &World) {
    assert_views(world, dialect.name).await;
    for index in 0..world.times_asked() {
        assert_eq!(world.request(index).await.api(), Some(dialect.api));
    }
}

#[tokio::test]
async fn conversation_needs_only_new_input() {
    for (dialect, mode) in cases() {
        let world = dialect.world().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Value| ask_with_reasoning(input).within(&conversation);

        client.turn(mode, &say(FACT.into())).await;
        let called = client.turn(mode, &say(TOOL.into())).await;
        let answer = output(called.call_id(), "hello");
        let echoed = client.turn(mode, &say(json!([answer]))).await;
        let recalled = client.turn(mode, &say(QUESTION.into())).await;

        assert_eq!(echoed.text(), "echo said: hello");
        assert_eq!(recalled.text(), "purple, Biscuit");
        assert_dialogue(dialect, &world).await;
        assert_eq!(client.items(&conversation).await.len(), 9);
        for turn in [called, echoed, recalled] {
            assert_eq!(turn.header("antiphon-repairs"), None);
        }
    }
}

#[tokio::test]
async fn chain_of_responses_needs_only_new_input() {
    for (dialect, mode) in cases() {
        let world = dialect.world().await;
        let client = world.client();

        let received = client.turn(mode, &ask_with_reasoning(FACT)).await;
        let called = client.turn(mode, &ask_with_reasoning(TOOL).after(received.id())).await;
        let answer = json!([output(called.call_id(), "hello")]);
        let echoed = client.turn(mode, &ask_with_reasoning(answer).after(called.id())).await;
        let recalled = client.turn(mode, &ask_with_reasoning(QUESTION).after(echoed.id())).await;

        assert_eq!(recalled.text(), "purple, Biscuit");
        assert_eq!(recalled.response["previous_response_id"], echoed.id());
        assert_dialogue(dialect, &world).await;
    }
}

#[tokio::test]
async fn replaying_client_gets_the_same_views() {
    for (dialect, mode) in cases() {
        let world = dialect.world().await;
        let mut replay = Replay::new(world.client(), mode, ask_with_reasoning);

        replay.turn(user(FACT)).await;
        let called = replay.turn(typed_user(TOOL)).await;
        replay.turn(output(&called["call_id"], "hello")).await;
        let recalled = replay.turn(user(QUESTION)).await;

        assert_eq!(recalled["content"][0]["text"], "purple, Biscuit");
        assert_dialogue(dialect, &world).await;
    }
}

#[tokio::test]
async fn model_without_thinking_keeps_the_context() {
    for (dialect, mode) in cases() {
        let world = dialect.world().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Value| ask(input).within(&conversation);

        client.turn(mode, &say(FACT.into())).await;
        let called = client.turn(mode, &say(TOOL.into())).await;
        client.turn(mode, &say(json!([output(called.call_id(), "hello")]))).await;
        let recalled = client.turn(mode, &say(QUESTION.into())).await;

        assert_eq!(recalled.text(), "purple, Biscuit");
        let thinks_unasked = dialect.api == Api::Chat;
        let expected = WHOLE.iter().filter(|line| thinks_unasked || **line != "reasoning");
        assert_eq!(world.view(3).await, expected.copied().collect::<Vec<_>>());
    }
}

fn cases() -> impl Iterator<Item = (Dialect, Mode)> {
    OTHERS.into_iter().flat_map(|dialect| MODES.map(|mode| (dialect, mode)))
}

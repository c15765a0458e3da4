//! The three turns: a fact, a tool, and a question about the fact.

use antiphon_mock::Api;
use serde_json::{Value, json};

use super::{Dialect, OTHERS, ask_with_reasoning};
use crate::support::{Client, MODES, Mode, World, ask, output, typed_user, user};

const FACT: &str = "My color is purple, dog is Biscuit";
const TOOL: &str = "Echo hello";
const QUESTION: &str = "What is my color and dog name?";

/// What the model has been given with the last request.
const WHOLE: [&str; 8] = [
    "user: My color is purple, dog is Biscuit",
    "assistant: Noted.",
    "user: Echo hello",
    "reasoning",
    r#"call echo {"text":"hello"}"#,
    "output: hello",
    "assistant: echo said: hello",
    "user: What is my color and dog name?",
];

/// How many items of it came with each request.
const LENGTHS: [usize; 4] = [1, 3, 6, 8];

async fn assert_views(dialect: Dialect, world: &World) {
    assert_eq!(world.times_asked(), LENGTHS.len());
    for (index, length) in LENGTHS.into_iter().enumerate() {
        assert_eq!(world.request(index).await.api(), Some(dialect.api));
        assert_eq!(world.view(index).await, WHOLE[..length], "{}", dialect.name);
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
        assert_views(dialect, &world).await;
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
        assert_views(dialect, &world).await;
    }
}

#[tokio::test]
async fn replaying_client_gets_the_same_views() {
    for (dialect, mode) in cases() {
        let world = dialect.world().await;
        let mut replay = Replay { client: world.client(), mode, history: Vec::new() };

        replay.turn(user(FACT)).await;
        let called = replay.turn(typed_user(TOOL)).await;
        replay.turn(output(&called["call_id"], "hello")).await;
        let recalled = replay.turn(user(QUESTION)).await;

        assert_eq!(recalled["content"][0]["text"], "purple, Biscuit");
        assert_views(dialect, &world).await;
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

/// A client that keeps all items itself and asks for nothing to be stored.
struct Replay {
    client: Client,
    mode: Mode,
    history: Vec<Value>,
}

impl Replay {
    /// The last item of the answer.
    async fn turn(&mut self, item: Value) -> Value {
        self.history.push(item);
        let ask = ask_with_reasoning(self.history.clone()).unstored().encrypted();
        let turn = self.client.turn(self.mode, &ask).await;
        assert_eq!(turn.header("antiphon-resent"), Some("0"));
        assert_eq!(turn.header("antiphon-repairs"), None);
        self.history.extend_from_slice(turn.output());
        turn.output().last().expect("it says something").clone()
    }
}

fn cases() -> impl Iterator<Item = (Dialect, Mode)> {
    OTHERS.into_iter().flat_map(|dialect| MODES.map(|mode| (dialect, mode)))
}

//! The Agent Framework replays histories beside server state: no ids at all, calls and reasoning
//! stripped, outputs that were answered sent again. Its steps within a turn are clean.

use serde_json::{Value, json};

use crate::support::{Client, MODES, Mode, World, ask, assistant, output, typed_user};

/// How the server's state is named.
#[derive(Clone, Copy, Debug)]
enum State {
    Conversation,
    Chain,
}

struct Agent {
    client: Client,
    mode: Mode,
    conversation: Option<String>,
    previous: Option<String>,
    history: Vec<Value>,
}

impl Agent {
    async fn new(world: &World, mode: Mode, state: State) -> Self {
        let client = world.client();
        let conversation = match state {
            State::Conversation => Some(client.new_conversation().await),
            State::Chain => None,
        };
        Self { client, mode, conversation, previous: None, history: Vec::new() }
    }

    /// A turn of the user, with everything that was said before it; a call is answered.
    async fn run(&mut self, text: &str) -> String {
        self.history.push(typed_user(text));
        let mut turn = self.send(self.history.clone()).await;
        while turn.output().iter().any(|item| item["type"] == "function_call") {
            let answer = output(turn.call_id(), "hello");
            self.history.push(answer.clone());
            turn = self.send(vec![answer]).await;
        }
        self.history.push(assistant(turn.text()));
        turn.text().to_owned()
    }

    async fn send(&mut self, input: Vec<Value>) -> crate::support::Turn {
        let ask = match (&self.conversation, &self.previous) {
            (Some(conversation), _) => ask(input).within(conversation),
            (None, Some(previous)) => ask(input).after(previous),
            (None, None) => ask(input),
        };
        let turn = self.client.turn(self.mode, &ask).await;
        self.previous = Some(turn.id().to_owned());
        turn
    }
}

#[tokio::test]
async fn four_turns_send_each_item_once() {
    for state in [State::Conversation, State::Chain] {
        for mode in MODES {
            let world = World::new().await;
            let mut agent = Agent::new(&world, mode, state).await;

            agent.run("My color is purple").await;
            agent.run("Echo hello").await;
            agent.run("My dog is Biscuit").await;
            let recalled = agent.run("What is my color and my dog?").await;

            assert_eq!(recalled, "purple, Biscuit");
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
                    "user: My dog is Biscuit",
                    "assistant: Noted.",
                    "user: What is my color and my dog?",
                ],
                "{state:?} {mode:?}"
            );
        }
    }
}

#[tokio::test]
async fn recorded_replay_is_recognized() {
    for mode in MODES {
        let world = World::new().await;
        let client = world.client();
        let conversation = client.new_conversation().await;
        let say = |input: Value| ask(input).within(&conversation);
        client.turn(mode, &say(json!([typed_user("My color is purple")]))).await;
        let called = client.turn(mode, &say(json!([typed_user("Echo hello")]))).await;
        let answer = output(called.call_id(), "hello");
        client.turn(mode, &say(json!([answer]))).await;

        let replay = json!([
            typed_user("My color is purple"),
            assistant("Noted."),
            typed_user("Echo hello"),
            answer,
            assistant("echo said: hello"),
            typed_user("What is my color?"),
        ]);
        let recalled = client.turn(mode, &say(replay)).await;

        assert_eq!(recalled.text(), "purple");
        assert_eq!(recalled.header("antiphon-resent"), Some("5"));
        assert_eq!(recalled.header("antiphon-repairs"), None);
        assert_eq!(world.view(3).await.len(), 8);
        let report = client.report(recalled.id()).await;
        let rules: Vec<&Value> = (0..5).map(|at| &report["resent"][at]["rule"]).collect();
        assert_eq!(rules, ["replayed", "replayed", "replayed", "same_call", "replayed"]);
    }
}

#[tokio::test]
async fn repeated_message_is_added_twice() {
    for state in [State::Conversation, State::Chain] {
        let world = World::new().await;
        let mut agent = Agent::new(&world, Mode::Whole, state).await;

        agent.run("Yes").await;
        agent.run("Yes").await;
        agent.run("Yes").await;

        let says = |view: Vec<String>| view.iter().filter(|line| *line == "user: Yes").count();
        assert_eq!(says(world.view(0).await), 1);
        assert_eq!(says(world.view(1).await), 2);
        assert_eq!(says(world.view(2).await), 3);
    }
}

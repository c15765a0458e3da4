//! Clients that keep the last messages of their history, or edit it, next to server state: Agent
//! Framework's `max_messages`, LangGraph's `trim_messages`, the Agents SDK's `SessionSettings`.

use serde_json::Value;

use crate::support::{Client, MODES, Mode, Turn, World, ask, assistant, typed_user};

/// A client and its own history.
struct Agent {
    client: Client,
    conversation: String,
    history: Vec<Value>,
}

impl Agent {
    async fn new(world: &World) -> Self {
        let client = world.client();
        let conversation = client.new_conversation().await;
        Self { client, conversation, history: Vec::new() }
    }

    /// Sends a part of the history, and a new message.
    async fn say(&mut self, mode: Mode, before: &[Value], text: &str) -> Turn {
        let input = [before, &[typed_user(text)]].concat();
        let turn = self.client.turn(mode, &ask(input).within(&self.conversation)).await;
        self.history.extend([typed_user(text), assistant(turn.text())]);
        turn
    }

    fn last(&self, messages: usize) -> Vec<Value> {
        self.history[self.history.len().saturating_sub(messages)..].to_vec()
    }

    async fn stored_items(&self) -> usize {
        self.client.items(&self.conversation).await.len()
    }
}

#[tokio::test]
async fn window_of_four_messages_stores_each_once() {
    for mode in MODES {
        let world = World::new().await;
        let mut agent = Agent::new(&world).await;
        for turn in 0..6 {
            let window = agent.last(4);
            let answer = agent.say(mode, &window, &format!("Number {turn}.")).await;
            assert_eq!(answer.header("antiphon-repairs"), None, "turn {turn}");
        }
        assert_eq!(agent.stored_items().await, 12);
    }
}

#[tokio::test]
async fn changing_first_message_is_reported_and_alone_new() {
    for mode in MODES {
        let world = World::new().await;
        let mut agent = Agent::new(&world).await;
        for turn in 0..4 {
            let mut replay = agent.history.clone();
            if let Some(first) = replay.first_mut() {
                *first = typed_user(&format!("It is {turn} o'clock."));
            }
            let answer = agent.say(mode, &replay, &format!("Number {turn}.")).await;
            let expected = (turn > 0).then_some("unrecognized_replay=1");
            assert_eq!(answer.header("antiphon-repairs"), expected, "turn {turn}");
        }
        assert_eq!(agent.stored_items().await, 8 + 3);
    }
}

#[tokio::test]
async fn repeated_order_is_stored_twice_and_reported() {
    for mode in MODES {
        let world = World::new().await;
        let mut agent = Agent::new(&world).await;
        agent.say(mode, &[], "Buy 10 shares").await;
        let answer = agent.say(mode, &[typed_user("Buy 10 shares")], "Buy 10 shares").await;
        assert_eq!(answer.header("antiphon-repairs"), Some("repeated_text=1"));
        let users = world.last_view().await;
        let orders = users.iter().filter(|line| *line == "user: Buy 10 shares").count();
        assert_eq!(orders, 3);
    }
}

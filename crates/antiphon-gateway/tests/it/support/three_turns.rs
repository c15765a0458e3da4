//! The three turns: a fact, a tool, and a question about the fact.

use serde_json::Value;

use super::{Ask, Client, Mode, World};

pub(crate) const FACT: &str = "My color is purple, dog is Biscuit";
pub(crate) const TOOL: &str = "Echo hello";
pub(crate) const QUESTION: &str = "What is my color and dog name?";

/// The input of the model in the last request.
pub(crate) const WHOLE: [&str; 8] = [
    "user: My color is purple, dog is Biscuit",
    "assistant: Noted.",
    "user: Echo hello",
    "reasoning",
    r#"call echo {"text":"hello"}"#,
    "output: hello",
    "assistant: echo said: hello",
    "user: What is my color and dog name?",
];

/// The number of its items in each request.
const LENGTHS: [usize; 4] = [1, 3, 6, 8];

/// The model has received the three turns, and nothing else.
pub(crate) async fn assert_views(world: &World, row: &str) {
    assert_eq!(world.times_asked(), LENGTHS.len(), "{row}");
    for (index, length) in LENGTHS.into_iter().enumerate() {
        assert_eq!(world.view(index).await, WHOLE[..length], "{row}");
    }
}

/// A client that keeps all items itself and asks for nothing to be stored.
pub(crate) struct Replay {
    client: Client,
    mode: Mode,
    /// The request with a history.
    ask: fn(Value) -> Ask,
    history: Vec<Value>,
}

impl Replay {
    pub(crate) fn new(client: Client, mode: Mode, ask: fn(Value) -> Ask) -> Self {
        Self { client, mode, ask, history: Vec::new() }
    }

    /// The last item of the answer.
    pub(crate) async fn turn(&mut self, item: Value) -> Value {
        self.history.push(item);
        let ask = (self.ask)(self.history.clone().into()).unstored().encrypted();
        let turn = self.client.turn(self.mode, &ask).await;
        assert_eq!(turn.header("antiphon-resent"), Some("0"));
        assert_eq!(turn.header("antiphon-repairs"), None);
        self.history.extend_from_slice(turn.output());
        turn.output().last().expect("it says something").clone()
    }
}

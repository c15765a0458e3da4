//! What a fault comes to.

use serde_json::Value;

use crate::support::{Answer, Ask, Client, Mode, Turn, World, ask, lines};

/// What was known before the fault, and is asked for after it.
pub(super) const FACT: &str = "My color is purple";
/// What is said in the turn that meets the fault.
pub(super) const SAID: &str = "My dog is Biscuit.";
const QUESTION: &str = "What is my color and my dog?";

/// Where a turn belongs.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// In the conversation of this id.
    Conversation(String),
    /// After the response of this id.
    Chain(String),
}

impl Place {
    /// A conversation in which the fact was told.
    pub(super) async fn conversation(client: &Client) -> Self {
        let conversation = client.new_conversation().await;
        client.respond(&ask(FACT).within(&conversation)).await;
        Self::Conversation(conversation)
    }

    /// A response in which the fact was told.
    pub(super) async fn chain(client: &Client) -> Self {
        Self::Chain(client.respond(&ask(FACT)).await.id().to_owned())
    }

    pub(super) fn ask(&self, text: &str) -> Ask {
        match self {
            Self::Conversation(id) => ask(text).within(id),
            Self::Chain(id) => ask(text).after(id),
        }
    }

    /// The items that are held here; a chain's cannot be listed.
    pub(super) async fn items(&self, client: &Client) -> Option<Vec<Value>> {
        match self {
            Self::Conversation(id) => Some(client.items(id).await),
            Self::Chain(_) => None,
        }
    }
}

/// What the caller was told.
pub(super) struct Observed {
    /// The end of the stream, or the status.
    pub(super) end: String,
    /// The sentence of an error.
    pub(super) message: Option<String>,
    /// The response that was answered or announced, and whether it failed.
    pub(super) response: Option<(String, bool)>,
    /// What it said.
    pub(super) output: Vec<Value>,
}

impl Observed {
    pub(super) fn from_attempt(mode: Mode, attempt: &Result<Turn, Answer>) -> Self {
        match attempt {
            Ok(turn) => Self::turn(mode, turn),
            Err(refused) => Self::refused(refused),
        }
    }

    fn turn(mode: Mode, turn: &Turn) -> Self {
        let error = &turn.response["error"];
        let failed = turn.status() == "failed";
        let end = match (mode, error["code"].as_str()) {
            (Mode::Streamed, Some(code)) => format!("`response.failed`, `{code}`"),
            (Mode::Streamed, None) => format!("`response.{}`", turn.status()),
            (Mode::Whole, _) => "200".to_owned(),
        };
        assert!(mode == Mode::Streamed || !failed, "a failed answer is an error");
        Self {
            end,
            message: error["message"].as_str().map(str::to_owned),
            response: Some((turn.id().to_owned(), failed)),
            output: turn.output().to_vec(),
        }
    }

    /// One JSON error in the provider's form.
    fn refused(refused: &Answer) -> Self {
        let error = refused.refused().body["error"].clone();
        let kind = error["type"].as_str().expect("an error has a type");
        let message = error["message"].as_str().expect("an error has a message");
        let waits = refused.header("retry-after").map(|wait| format!(", `Retry-After: {wait}`"));
        Self {
            end: format!("{}, `{kind}`{}", refused.status(), waits.unwrap_or_default()),
            message: Some(message.to_owned()),
            response: None,
            output: Vec::new(),
        }
    }

    fn is_answered(&self) -> bool {
        self.response.as_ref().is_some_and(|(_, failed)| !failed)
    }
}

/// Nothing that was acknowledged is lost, and nothing is there twice: what the place holds now.
pub(super) fn assert_consistent(
    received: &Observed,
    held: &[Value],
    now: &[Value],
) -> &'static str {
    assert_eq!(now[..held.len()], *held, "what was held stays");
    let added = lines(&now[held.len()..]);
    let expected = match received.is_answered() {
        true => [vec![format!("user: {SAID}")], lines(&received.output)].concat(),
        false => Vec::new(),
    };
    assert_eq!(added, expected);
    if received.is_answered() { "the whole turn" } else { "as it was" }
}

/// The next turn works: the model is given a view that a provider accepts, and knows what it was
/// told.
pub(super) async fn assert_next_turn_works(
    world: &World,
    mode: Mode,
    place: &Place,
    received: &Observed,
) {
    let client = world.client();
    let knows = |knows| if knows { "purple, Biscuit" } else { "purple" };
    if let (Some((id, _)), Place::Chain(_)) = (&received.response, place) {
        let from_it = client.turn(mode, &ask(QUESTION).after(id)).await;
        let view = world.last_view().await;
        assert_eq!(from_it.text(), knows(true), "from the announced response: {view:?}");
    }
    let is_kept = received.is_answered() && matches!(place, Place::Conversation(_));
    let next = client.turn(mode, &place.ask(QUESTION)).await;
    let view = world.last_view().await;
    assert_eq!(next.text(), knows(is_kept), "{view:?}");
}

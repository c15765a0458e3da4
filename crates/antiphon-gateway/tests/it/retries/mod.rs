//! Requests that a client makes again never double a turn.

mod forgotten;
mod keyed;
mod open_turns;
mod replaced;
mod replay;
mod several_writers;

use serde_json::Value;

use crate::support::{Ask, Client, Mode, Turn};

/// The client, sending what it sends again.
fn retrying(client: &Client) -> Client {
    client.clone().with_header("x-stainless-retry-count", "1")
}

/// A turn that is told to be an earlier one.
async fn replayed(client: &Client, mode: Mode, ask: &Ask) -> Turn {
    let turn = retrying(client).turn(mode, ask).await;
    assert_eq!(turn.header("antiphon-answered-again"), Some("true"));
    turn
}

/// Where a turn goes on from, for the tests that hold wherever it is.
#[derive(Clone, Copy, Debug)]
enum StartingPoint {
    Conversation,
    Chain,
    Nothing,
}

const STARTING_POINTS: [StartingPoint; 3] =
    [StartingPoint::Conversation, StartingPoint::Chain, StartingPoint::Nothing];

impl StartingPoint {
    /// A question at this place.
    async fn ask(self, client: &Client, question: impl Into<Value>) -> Ask {
        let ask = crate::support::ask(question);
        match self {
            Self::Conversation => ask.within(&client.new_conversation().await),
            Self::Chain => {
                let first = client.respond(&crate::support::ask("My color is purple")).await;
                ask.after(first.id())
            }
            Self::Nothing => ask,
        }
    }
}

//! What a tenant has, by its ids.

use antiphon_mock::{Answer, Exchange, Reply};
use serde_json::Value;

use super::watched::Watched;
use crate::support::{Ask, Client, Events, MODEL, ask, frames_until, text};

/// Ids: of a conversation, a turn of it, an item and a call of that turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ids {
    pub(super) conversation: String,
    pub(super) response: String,
    pub(super) item: String,
    pub(super) call: String,
}

impl Ids {
    pub(super) fn each(&self, change: impl Fn(&str) -> String) -> Self {
        Self {
            conversation: change(&self.conversation),
            response: change(&self.response),
            item: change(&self.item),
            call: change(&self.call),
        }
    }

    pub(super) fn all(&self) -> [&str; 4] {
        [&self.conversation, &self.response, &self.item, &self.call]
    }

    /// Ids of the same forms that nobody ever had.
    pub(super) fn unused(&self) -> Self {
        self.each(|id| {
            let (kind, rest) = id.split_once('_').expect("an id says what it is of");
            let other = rest.chars().map(|digit| match digit.to_digit(16) {
                Some(value) => char::from_digit(15 - value, 16).expect("it is a digit"),
                None => digit,
            });
            let other = format!("{kind}_{}", other.collect::<String>());
            assert_ne!(other, id);
            other
        })
    }
}

/// A message, and a call that is like no other of this world.
fn answer(world: &Watched) -> Answer {
    let call = format!("call_{:010}", world.upstream.requests().len());
    let arguments = r#"{"text":"hello"}"#;
    Answer::new(MODEL).message("Let me see.").call(&call, "echo", arguments)
}

fn asking(conversation: &str) -> Ask {
    ask("My color is purple").within(conversation)
}

/// A turn of a new conversation that was answered.
pub(super) async fn held(world: &Watched, client: &Client) -> Ids {
    world.upstream.script(Reply::sse(answer(world).frames()));
    let conversation = client.new_conversation().await;
    let turn = client.respond(&asking(&conversation)).await;
    Ids {
        conversation,
        response: turn.id().to_owned(),
        item: text(&turn.item("message")["id"]).to_owned(),
        call: text(turn.call_id()).to_owned(),
    }
}

/// A turn whose every part was deleted.
pub(super) async fn deleted(world: &Watched, client: &Client) -> Ids {
    let ids = held(world, client).await;
    let conversation = format!("/v1/conversations/{}", ids.conversation);
    for path in [
        format!("{conversation}/items/{}", ids.item),
        conversation,
        format!("/v1/responses/{}", ids.response),
    ] {
        client.delete(&path).await.json();
    }
    ids
}

/// A turn whose answer is still being told: what it is of, and what holds the answer up.
pub(super) async fn open(world: &Watched, client: &Client) -> (Ids, Exchange, Events) {
    let answer = answer(world);
    let begun = frames_until(&answer, "response.function_call_arguments.delta");
    let exchange = world.upstream.script(Reply::sse(answer.frames()).hang_after(begun));
    let conversation = client.new_conversation().await;
    let mut events = client.stream(&asking(&conversation)).await;
    let response = events.response_id().await;
    events.until("response.function_call_arguments.delta").await;
    let item_of = |kind: &str| {
        let mut added =
            events.seen().iter().filter(|event| event.name == "response.output_item.added");
        let item =
            added.find_map(|event| Some(&event.json["item"]).filter(|item| item["type"] == kind));
        item.cloned().unwrap_or(Value::Null)
    };
    let ids = Ids {
        conversation,
        response,
        item: text(&item_of("message")["id"]).to_owned(),
        call: text(&item_of("function_call")["call_id"]).to_owned(),
    };
    (ids, exchange, events)
}

//! Turns for whose end nobody waits.

mod cancelling;
mod conversations;
mod deleting;
mod disconnect;
mod history;
mod polling;
mod rejected;
mod restart;
mod retries;
mod slow_reader;
mod stopping;
mod streaming;
mod tenants;

use antiphon_gateway::settings::Secret;
use antiphon_mock::{Answer, Exchange, Reply};
use serde_json::Value;

use crate::support::{Ask, Client, Events, MODEL, Mode, World, ask, frames_until, text};

const DELTA: &str = "response.output_text.delta";

/// Asks in the background.
fn in_background(text: &str) -> Ask {
    ask(text).field("background", true)
}

/// A gateway that shows its upstream a key of its own: it can ask again for anybody.
async fn with_own_key() -> World {
    World::with(|settings| {
        settings.upstreams[0].key = Some(Secret::new("key-of-the-gateway"));
    })
    .await
}

/// Asks in the background, and does not wait; the response's id.
async fn create_queued(client: &Client, ask: &Ask) -> String {
    let response = client.create(Mode::Whole, ask).await.json();
    assert_eq!(response["status"], "queued");
    id_of(&response)
}

fn id_of(response: &Value) -> String {
    text(&response["id"]).to_owned()
}

/// The upstream's next answer is a tale that has begun and goes on when it is released.
fn script_tale(world: &World) -> Exchange {
    let answer = Answer::new(MODEL).message("Once upon a time");
    world.script(Reply::sse(answer.frames()).hang_after(frames_until(&answer, DELTA)))
}

/// The upstream's next answer does not even begin before it is released.
fn script_silence(world: &World) -> Exchange {
    let answer = Answer::new(MODEL).message("Once upon a time");
    world.script(Reply::sse(answer.frames()).gated().withhold_head())
}

/// A tale that is being told in the background: its stream, its id, the upstream's side.
async fn start_tale(world: &World, client: &Client, ask: &Ask) -> (Events, String, Exchange) {
    let exchange = script_tale(world);
    let mut events = client.stream(ask).await;
    let id = events.response_id().await;
    events.until(DELTA).await;
    (events, id, exchange)
}

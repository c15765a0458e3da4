//! Several gateways on one database, behind any load balancer.

mod background;
mod database;
mod deleted;
mod erasure;
mod inspection;
mod killed;
mod paused;
mod responses;
mod rolling;
mod turns;
mod writers;

use antiphon_mock::{Answer, Exchange, Reply};

use crate::support::{Ask, Client, Events, MODEL, World, frames_until};

/// A tale that has begun and goes on when it is released: its stream, its id, the upstream's side.
async fn start_tale(world: &World, client: &Client, ask: &Ask) -> (Events, String, Exchange) {
    let answer = Answer::new(MODEL).message("Once upon a time");
    let event = "response.output_text.delta";
    let exchange =
        world.script(Reply::sse(answer.frames()).hang_after(frames_until(&answer, event)));
    let mut events = client.stream(ask).await;
    let id = events.response_id().await;
    events.until(event).await;
    (events, id, exchange)
}

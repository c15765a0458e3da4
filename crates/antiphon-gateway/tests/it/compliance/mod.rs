//! The Open Responses specification, edition 2026-04-24: what it demands of a server.
//!
//! `docs/compliance.md` has a row for every demand, and names these tests. Beyond them, every event
//! and every response object that any test of the gateway reads is held to the specification's
//! schema (`tests/schema/`).

mod chaining;
mod compaction;
mod context;
mod errors;
mod extensions;
mod http;
mod items;
mod response;
mod streaming;
mod suite;
mod tools;
mod websocket;

use antiphon::dialect::UpstreamApi;
use antiphon::stream::Form;
use antiphon_mock::{Answer, Api, Reply};

use crate::support::World;

/// What an upstream may speak.
const APIS: [(UpstreamApi, Api); 3] = [
    (UpstreamApi::Responses, Api::Responses),
    (UpstreamApi::Chat, Api::Chat),
    (UpstreamApi::Anthropic, Api::Anthropic),
];

/// A gateway that names events as the specification does, before an upstream of this API.
async fn world_of(dialect: UpstreamApi) -> World {
    World::with(|settings| {
        settings.event_names = Form::OpenResponses;
        settings.upstreams[0].api = dialect;
    })
    .await
}

/// The answer as a stream of this API.
fn streamed(api: Api, answer: &Answer) -> Reply {
    Reply::sse(answer.frames_for(api))
}

//! Upstreams that speak other APIs than their callers.

mod calls;
mod credentials;
mod endings;
mod fields;
mod reasoning;
mod rejections;
mod several_upstreams;
mod three_turns;
mod tools;

use antiphon::dialect::UpstreamApi;
use antiphon_mock::{Answer, Api, Exchange, Reply};
use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{Ask, World, ask};

/// An API, as the gateway names it and as the upstream does.
#[derive(Clone, Copy, Debug)]
struct Dialect {
    upstream: UpstreamApi,
    api: Api,
    /// What the gateway calls it in errors.
    name: &'static str,
}

const CHAT: Dialect =
    Dialect { upstream: UpstreamApi::Chat, api: Api::Chat, name: "Chat Completions" };

const ANTHROPIC: Dialect =
    Dialect { upstream: UpstreamApi::Anthropic, api: Api::Anthropic, name: "Anthropic Messages" };

/// Every API that is not the callers' own.
const OTHERS: [Dialect; 2] = [CHAT, ANTHROPIC];

impl Dialect {
    /// A gateway in front of an upstream of this API.
    async fn world(self) -> World {
        World::with(|settings| settings.upstreams[0].api = self.upstream).await
    }

    /// Has the upstream stream this answer.
    fn script_stream(self, world: &World, answer: &Answer) -> Exchange {
        world.script(Reply::sse(answer.frames_for(self.api)))
    }

    /// Has the upstream answer with one JSON body.
    fn script_whole(self, world: &World, answer: &Answer) -> Exchange {
        world.script(Reply::json(StatusCode::OK, &answer.json_for(self.api)))
    }
}

/// Asks for reasoning too: a Claude thinks only where it is asked to.
fn ask_with_reasoning(input: impl Into<Value>) -> Ask {
    ask(input).field("reasoning", json!({"effort": "low"}))
}

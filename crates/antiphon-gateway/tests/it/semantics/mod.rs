//! What the fields of a request mean, whatever API its upstream speaks.

mod content;
mod errors;
mod hints;
mod include;
mod instructions;
mod numbers;
mod obfuscation;
mod references;
mod single_call;
mod store;
mod text_format;
mod tool_choice;
mod tool_choice_violations;
mod unknown;

use antiphon::dialect::UpstreamApi;
use antiphon_mock::{Answer, Api, Exchange, Reply};
use serde_json::{Value, json};

use crate::support::{Ask, World, ask};

/// Every API that an upstream may speak, as the gateway names it and as the upstream does.
const APIS: [Dialect; 3] = [RESPONSES, CHAT, ANTHROPIC];
const RESPONSES: Dialect = Dialect { upstream: UpstreamApi::Responses, api: Api::Responses };
const CHAT: Dialect = Dialect { upstream: UpstreamApi::Chat, api: Api::Chat };
const ANTHROPIC: Dialect = Dialect { upstream: UpstreamApi::Anthropic, api: Api::Anthropic };

#[derive(Clone, Copy, Debug)]
struct Dialect {
    upstream: UpstreamApi,
    api: Api,
}

impl Dialect {
    /// A gateway in front of an upstream of this API.
    async fn world(self) -> World {
        World::with(|settings| settings.upstreams[0].api = self.upstream).await
    }

    /// Has the upstream give this answer to the next request.
    fn answers(self, world: &World, answer: &Answer) -> Exchange {
        world.script(Reply::sse(answer.frames_for(self.api)))
    }
}

/// A function without parameters.
fn function(name: &str) -> Value {
    json!({"type": "function", "name": name, "parameters": {"type": "object", "properties": {}}})
}

/// Asks a model that may call these functions.
fn ask_with(functions: &[&str]) -> Ask {
    let tools: Vec<Value> = functions.iter().map(|name| function(name)).collect();
    ask("Look").field("tools", tools)
}

//! Clients of four APIs, in front of upstreams of every API.

mod answers;
mod conversations;
mod dialogue;
mod dialogues;
mod matrix;
mod reply;

use antiphon::dialect::UpstreamApi;
use antiphon_gateway::settings::Settings;
use antiphon_mock::Api;
use serde_json::{Value, json};

use self::dialogue::Dialogue;
use self::reply::Reply;
use crate::support::{Answer, Client, Mode, World, ask, output};
use crate::{chat, gemini, messages};

/// The API of every upstream, and its name at the strict server.
pub(crate) const UPSTREAMS: [(UpstreamApi, Api); 3] = [
    (UpstreamApi::Responses, Api::Responses),
    (UpstreamApi::Chat, Api::Chat),
    (UpstreamApi::Anthropic, Api::Anthropic),
];

/// The API of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientApi {
    Responses,
    Chat,
    Messages,
    Gemini,
}

/// A gateway in front of an upstream of this API.
pub(crate) async fn world_of(api: UpstreamApi) -> World {
    world_with(api, |_| {}).await
}

pub(crate) async fn world_with(api: UpstreamApi, change: impl FnOnce(&mut Settings)) -> World {
    World::with(|settings| {
        settings.upstreams[0].api = api;
        change(settings);
    })
    .await
}

impl ClientApi {
    const ALL: [Self; 4] = [Self::Responses, Self::Chat, Self::Messages, Self::Gemini];

    /// Those whose clients always resend the whole history.
    const WITHOUT_STATE: [Self; 3] = [Self::Chat, Self::Messages, Self::Gemini];

    /// The upstreams that do not understand the client's requests.
    pub(crate) fn other_upstreams(self) -> impl Iterator<Item = (UpstreamApi, Api)> {
        let own = match self {
            Self::Responses => Some(Api::Responses),
            Self::Chat => Some(Api::Chat),
            Self::Messages => Some(Api::Anthropic),
            Self::Gemini => None,
        };
        UPSTREAMS.into_iter().filter(move |(_, name)| Some(*name) != own)
    }

    fn path(self) -> &'static str {
        match self {
            Self::Responses => "/v1/responses",
            Self::Chat => chat::PATH,
            Self::Messages => messages::PATH,
            Self::Gemini => unreachable!("the path names the model"),
        }
    }

    /// A message of the user.
    fn said(self, text: &str) -> Value {
        match self {
            Self::Responses | Self::Chat | Self::Messages => {
                json!({"role": "user", "content": text})
            }
            Self::Gemini => gemini::user(text),
        }
    }

    /// A client with the headers of the API.
    fn client(self, world: &World) -> Client {
        match self {
            Self::Responses | Self::Chat => world.client(),
            Self::Messages => messages::client_of(world),
            Self::Gemini => gemini::client_of(world),
        }
    }

    /// A request with this history and the echo tool.
    fn request(self, history: &[Value]) -> Value {
        match self {
            Self::Responses => ask(json!(history)).unstored().encrypted().body().clone(),
            Self::Chat => chat::request(&json!(history)),
            Self::Messages => messages::request(&json!(history)),
            Self::Gemini => gemini::request(&json!(history)),
        }
    }

    /// The entries of a history that answer calls, by their ids.
    fn outputs(self, outputs: &[(&str, &str)]) -> Vec<Value> {
        let each = outputs.iter();
        match self {
            Self::Responses => each.map(|(id, text)| output(&json!(id), text)).collect(),
            Self::Chat => each.map(|(id, text)| chat::output(id, text)).collect(),
            Self::Messages => {
                let results: Vec<_> = each.map(|(id, text)| messages::result(id, text)).collect();
                vec![json!({"role": "user", "content": results})]
            }
            Self::Gemini => {
                let outputs: Vec<_> = each.map(|(id, text)| (Some(*id), *text)).collect();
                vec![gemini::responses(&outputs)]
            }
        }
    }

    /// The field that asks for reasoning.
    fn reasoning(self) -> (&'static str, Value) {
        match self {
            Self::Responses => ("reasoning", json!({"effort": "low"})),
            Self::Chat => ("reasoning_effort", json!("low")),
            Self::Messages => ("thinking", json!({"type": "enabled", "budget_tokens": 1_024})),
            Self::Gemini => {
                let thinking = json!({"thinkingLevel": "LOW", "includeThoughts": true});
                ("generationConfig", json!({"thinkingConfig": thinking}))
            }
        }
    }

    /// The request for an answer of this mode.
    fn in_mode(self, mut request: Value, mode: Mode) -> Value {
        if mode == Mode::Streamed {
            request["stream"] = true.into();
            if self == Self::Chat {
                request["stream_options"] = json!({"include_usage": true});
            }
        }
        request
    }

    /// Sends the request, and reads the answer as it came.
    async fn post(self, client: &Client, mode: Mode, request: &Value) -> Answer {
        if self == Self::Gemini {
            return gemini::post(client, mode, request).await;
        }
        client.post(self.path(), &self.in_mode(request.clone(), mode)).await
    }

    /// Sends the request. The answer must be well-formed.
    async fn send(self, client: &Client, mode: Mode, request: &Value) -> Reply {
        if self == Self::Responses {
            let fields = request.as_object().expect("a request is an object").iter();
            let asked = fields
                .fold(ask(Value::Null), |asked, (key, value)| asked.field(key, value.clone()));
            return Reply::Responses(client.turn(mode, &asked).await);
        }
        self.read(&self.post(client, mode, request).await, mode)
    }

    fn read(self, answer: &Answer, mode: Mode) -> Reply {
        match self {
            Self::Chat => Reply::Chat(chat::Completion::read(answer, mode)),
            Self::Messages => Reply::Messages(messages::Message::read(answer, mode)),
            Self::Gemini => Reply::Gemini(gemini::Generation::read(answer, mode)),
            Self::Responses => unreachable!("a turn reads its answer itself"),
        }
    }

    /// A request that says hello.
    fn hello(self) -> Value {
        self.request(&[self.said("Hello")])
    }
}

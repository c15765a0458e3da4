//! Clients of Anthropic's Messages API, for upstreams of every API.

mod answers;
mod conversations;
mod counting;
mod dialogues;
mod errors;
mod faults;
mod headers;
mod message;

use antiphon::dialect::UpstreamApi;
use antiphon_gateway::settings::Settings;
use antiphon_mock::Api;
use serde_json::{Value, json};

pub(crate) use self::message::Message;
use crate::support::{Answer, Client, MODEL, Mode, World};

const PATH: &str = "/v1/messages";

/// Every API, and its name at the strict upstream.
const APIS: [(UpstreamApi, Api); 3] = [
    (UpstreamApi::Responses, Api::Responses),
    (UpstreamApi::Chat, Api::Chat),
    (UpstreamApi::Anthropic, Api::Anthropic),
];

/// The APIs of upstreams that do not understand the client's request.
const OTHER_APIS: [(UpstreamApi, Api); 2] = [APIS[0], APIS[1]];

/// A gateway in front of an upstream of this API.
async fn world_of(api: UpstreamApi) -> World {
    world_with(api, |_| {}).await
}

async fn world_with(api: UpstreamApi, change: impl FnOnce(&mut Settings)) -> World {
    World::with(|settings| {
        settings.upstreams[0].api = api;
        change(settings);
    })
    .await
}

/// A client with Anthropic's headers.
pub(crate) fn client_of(world: &World) -> Client {
    let client = world.anonymous_client().with_header("x-api-key", "key-of-alice");
    client.with_header("anthropic-version", "2023-06-01")
}

/// A request with these messages and the echo tool.
fn request(messages: &Value) -> Value {
    json!({"model": MODEL, "max_tokens": 2_000, "tools": [echo_tool()], "messages": messages})
}

/// The tool of the three turns, as Anthropic's clients define it.
fn echo_tool() -> Value {
    json!({"name": "echo", "description": "Says it again.", "input_schema": {
        "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}})
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

fn assistant(content: impl Into<Value>) -> Value {
    json!({"role": "assistant", "content": content.into()})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str, text: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "echo", "input": {"text": text}})
}

pub(crate) fn result(id: &str, output: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": output})
}

/// Sends the request. The answer must be well-formed.
async fn create(client: &Client, mode: Mode, request: &Value) -> Message {
    Message::read(&post(client, mode, request).await, mode)
}

/// Sends the request, and reads the answer as it came.
async fn post(client: &Client, mode: Mode, request: &Value) -> Answer {
    let mut request = request.clone();
    if mode == Mode::Streamed {
        request["stream"] = true.into();
    }
    client.post(PATH, &request).await
}

/// A client that holds the conversation and resends it with each request.
pub(crate) struct Dialogue {
    client: Client,
    mode: Mode,
    /// The fields of each request, other than the messages.
    fields: Value,
    messages: Vec<Value>,
}

impl Dialogue {
    pub(crate) fn new(client: Client, mode: Mode) -> Self {
        Self { client, mode, fields: json!({}), messages: Vec::new() }
    }

    /// The same client, which sets a field of each request.
    pub(crate) fn field(mut self, key: &str, value: Value) -> Self {
        self.fields[key] = value;
        self
    }

    /// The request with this content after the conversation.
    fn request(&mut self, content: impl Into<Value>) -> Value {
        self.messages.push(user(content));
        let mut request = request(&json!(self.messages));
        for (key, value) in self.fields.as_object().expect("it is an object") {
            request[key] = value.clone();
        }
        request
    }

    pub(crate) async fn say(&mut self, content: impl Into<Value>) -> Message {
        let request = self.request(content);
        let message = create(&self.client, self.mode, &request).await;
        self.messages.push(assistant(message.json["content"].clone()));
        message
    }
}

//! Clients of Chat Completions, for upstreams of every API.

mod answers;
mod completion;
mod conversations;
mod dialogues;
mod errors;
mod faults;
mod unchanged;

use antiphon::dialect::UpstreamApi;
use antiphon_mock::Api;
use serde_json::{Value, json};

pub(crate) use self::completion::Completion;
use crate::support::{Answer, Client, MODEL, Mode, World};

const PATH: &str = "/v1/chat/completions";

/// Every API, and its name at the strict upstream.
const APIS: [(UpstreamApi, Api); 3] = [
    (UpstreamApi::Responses, Api::Responses),
    (UpstreamApi::Chat, Api::Chat),
    (UpstreamApi::Anthropic, Api::Anthropic),
];

/// The APIs of upstreams that do not understand the client's request.
const OTHER_APIS: [(UpstreamApi, Api); 2] = [APIS[0], APIS[2]];

/// A gateway in front of an upstream of this API.
async fn world_of(api: UpstreamApi) -> World {
    World::with(|settings| settings.upstreams[0].api = api).await
}

/// A request with these messages and the echo tool.
fn request(messages: &Value) -> Value {
    json!({"model": MODEL, "tools": [echo_tool()], "messages": messages})
}

/// The tool of the three turns, as clients of Chat Completions define it.
fn echo_tool() -> Value {
    json!({"type": "function", "function": {"name": "echo", "description": "Says it again.",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}},
            "required": ["text"]}}})
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

/// An assistant message with calls of the echo tool: ids and texts.
fn calls(calls: &[(&str, &str)]) -> Value {
    let call = |(id, text): &(&str, &str)| {
        json!({"id": id, "type": "function", "function":
            {"name": "echo", "arguments": json!({"text": text}).to_string()}})
    };
    json!({"role": "assistant", "content": null,
        "tool_calls": calls.iter().map(call).collect::<Vec<_>>()})
}

pub(crate) fn output(id: &str, content: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": content})
}

/// Sends the request. The answer must be well-formed.
async fn complete(client: &Client, mode: Mode, request: &Value) -> Completion {
    Completion::read(&post(client, mode, request).await, mode)
}

/// Sends the request, and reads the answer as it came.
async fn post(client: &Client, mode: Mode, request: &Value) -> Answer {
    let mut request = request.clone();
    if mode == Mode::Streamed {
        request["stream"] = true.into();
        request["stream_options"] = json!({"include_usage": true});
    }
    client.post(PATH, &request).await
}

/// A client that holds the conversation and resends it with each request.
pub(crate) struct Dialogue {
    pub(crate) client: Client,
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

    /// The request with these messages after the conversation.
    fn request(&mut self, messages: Vec<Value>) -> Value {
        self.messages.extend(messages);
        let mut request = request(&json!(self.messages));
        for (key, value) in self.fields.as_object().expect("it is an object") {
            request[key] = value.clone();
        }
        request
    }

    pub(crate) async fn say(&mut self, text: &str) -> Completion {
        self.send(vec![user(text)]).await
    }

    pub(crate) async fn send(&mut self, messages: Vec<Value>) -> Completion {
        let request = self.request(messages);
        let completion = complete(&self.client, self.mode, &request).await;
        self.messages.push(completion.message().clone());
        completion
    }
}

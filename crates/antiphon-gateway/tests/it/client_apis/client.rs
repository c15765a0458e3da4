//! One client of each API, with the same dialogue.

use serde_json::{Value, json};

use crate::support::{Answer, Ask, Client, MODEL, Mode, World, ask, output, user};
use crate::{chat, messages};

/// The API of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientApi {
    Responses,
    Chat,
    Messages,
}

impl ClientApi {
    pub(super) const ALL: [Self; 3] = [Self::Responses, Self::Chat, Self::Messages];
}

impl ClientApi {
    /// Sends one message, and reads the answer as it came.
    pub(super) async fn post(self, world: &World) -> Answer {
        let hello = json!([{"role": "user", "content": "Hello"}]);
        let (path, body) = match self {
            Self::Responses => ("/v1/responses", json!({"model": MODEL, "input": hello})),
            Self::Chat => ("/v1/chat/completions", json!({"model": MODEL, "messages": hello})),
            Self::Messages => {
                let body = json!({"model": MODEL, "max_tokens": 100, "messages": hello});
                return messages::client_of(world).post("/v1/messages", &body).await;
            }
        };
        world.client().post(path, &body).await
    }
}

/// An answer, in the terms that all APIs share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) text: String,
    /// The ids of the calls.
    pub(super) calls: Vec<String>,
    /// Whether the answer shows reasoning.
    pub(super) reasons: bool,
}

/// A client that holds the conversation and resends it with each request.
pub(super) enum Dialogue {
    Responses { client: Client, mode: Mode, model: String, items: Vec<Value> },
    Chat(chat::Dialogue),
    Messages(messages::Dialogue),
}

impl Dialogue {
    pub(super) fn new(api: ClientApi, world: &World, mode: Mode, model: &str) -> Self {
        match api {
            ClientApi::Responses => Self::Responses {
                client: world.client(),
                mode,
                model: model.to_owned(),
                items: Vec::new(),
            },
            ClientApi::Chat => Self::Chat(
                chat::Dialogue::new(world.client(), mode)
                    .field("model", model.into())
                    .field("reasoning_effort", json!("low")),
            ),
            ClientApi::Messages => Self::Messages(
                messages::Dialogue::new(messages::client_of(world), mode)
                    .field("model", model.into())
                    .field("thinking", json!({"type": "enabled", "budget_tokens": 1_024})),
            ),
        }
    }

    /// Says a text.
    pub(super) async fn say(&mut self, text: &str) -> Said {
        match self {
            Self::Responses { .. } => self.respond(vec![user(text)]).await,
            Self::Chat(dialogue) => from_completion(&dialogue.say(text).await),
            Self::Messages(dialogue) => from_message(&dialogue.say(text).await),
        }
    }

    /// Answers calls, by their ids.
    pub(super) async fn answer(&mut self, outputs: &[(&str, &str)]) -> Said {
        match self {
            Self::Responses { .. } => {
                let items = outputs.iter().map(|(id, text)| output(&json!(id), text));
                self.respond(items.collect()).await
            }
            Self::Chat(dialogue) => {
                let outputs = outputs.iter().map(|(id, text)| chat::output(id, text)).collect();
                from_completion(&dialogue.send(outputs).await)
            }
            Self::Messages(dialogue) => {
                let results: Vec<Value> =
                    outputs.iter().map(|(id, text)| messages::result(id, text)).collect();
                from_message(&dialogue.say(results).await)
            }
        }
    }

    async fn respond(&mut self, new: Vec<Value>) -> Said {
        let Self::Responses { client, mode, model, items } = self else {
            unreachable!("it is a client of the Responses API")
        };
        items.extend(new);
        let asked: Ask = ask(json!(items)).model(model).unstored().encrypted();
        let turn = client.turn(*mode, &asked.field("reasoning", json!({"effort": "low"}))).await;
        items.extend(turn.output().iter().cloned());
        let calls = turn.output().iter().filter(|item| item["type"] == "function_call");
        Said {
            text: said(turn.output()),
            calls: calls
                .map(|call| call["call_id"].as_str().expect("a call has an id").to_owned())
                .collect(),
            reasons: turn.output().iter().any(|item| item["type"] == "reasoning"),
        }
    }
}

/// The texts of the messages.
fn said(output: &[Value]) -> String {
    let messages = output.iter().filter(|item| item["type"] == "message");
    messages.filter_map(|message| message["content"][0]["text"].as_str()).collect()
}

fn from_completion(completion: &chat::Completion) -> Said {
    Said {
        text: completion.text().to_owned(),
        calls: completion.calls().into_iter().map(str::to_owned).collect(),
        reasons: completion.message().get("reasoning_content").is_some_and(|text| text != ""),
    }
}

fn from_message(message: &messages::Message) -> Said {
    Said {
        text: message.text(),
        calls: message.calls().into_iter().map(str::to_owned).collect(),
        reasons: !message.blocks("thinking").is_empty(),
    }
}

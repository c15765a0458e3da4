//! Answers, in the terms that all APIs share.

use serde_json::{Value, json};

use super::ClientApi;
use crate::support::{Answer, Turn};
use crate::{chat, gemini, messages};

/// An answer that went well.
pub(super) enum Reply {
    Responses(Turn),
    Chat(chat::Completion),
    Messages(messages::Message),
    Gemini(gemini::Generation),
}

impl Reply {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Responses(turn) => texts(turn.output()),
            Self::Chat(completion) => completion.text().to_owned(),
            Self::Messages(message) => message.text(),
            Self::Gemini(generation) => generation.text(),
        }
    }

    /// The ids of the calls.
    pub(super) fn calls(&self) -> Vec<&str> {
        match self {
            Self::Responses(turn) => {
                let calls = turn.output().iter().filter(|item| item["type"] == "function_call");
                calls.map(|call| call["call_id"].as_str().expect("a call has an id")).collect()
            }
            Self::Chat(completion) => completion.calls(),
            Self::Messages(message) => message.calls(),
            Self::Gemini(generation) => generation.calls(),
        }
    }

    /// The id of the one call.
    pub(super) fn call(&self) -> &str {
        let [call] = self.calls()[..] else { panic!("one call: {}", self.json()) };
        call
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        match self {
            Self::Responses(turn) => turn.header(name),
            Self::Chat(completion) => completion.header(name),
            Self::Messages(message) => message.header(name),
            Self::Gemini(generation) => generation.header(name),
        }
    }

    pub(super) fn json(&self) -> &Value {
        match self {
            Self::Responses(turn) => &turn.response,
            Self::Chat(completion) => &completion.json,
            Self::Messages(message) => &message.json,
            Self::Gemini(generation) => &generation.json,
        }
    }

    /// The model that answered.
    pub(super) fn model(&self) -> &Value {
        let key = if matches!(self, Self::Gemini(_)) { "modelVersion" } else { "model" };
        &self.json()[key]
    }

    /// The counts of tokens.
    pub(super) fn usage(&self) -> &Value {
        let key = if matches!(self, Self::Gemini(_)) { "usageMetadata" } else { "usage" };
        &self.json()[key]
    }

    /// The reason of the end, or the status of a response.
    pub(super) fn end(&self) -> &str {
        match self {
            Self::Responses(turn) => turn.status(),
            Self::Chat(completion) => completion.finish_reason(),
            Self::Messages(message) => message.stop_reason(),
            Self::Gemini(generation) => generation.finish_reason(),
        }
    }

    /// Whether the answer shows reasoning.
    pub(super) fn shows_reasoning(&self) -> bool {
        match self {
            Self::Responses(turn) => turn.output().iter().any(|item| item["type"] == "reasoning"),
            Self::Chat(completion) => {
                completion.message().get("reasoning_content").is_some_and(|text| text != "")
            }
            Self::Messages(message) => !message.blocks("thinking").is_empty(),
            Self::Gemini(generation) => !generation.thoughts().is_empty(),
        }
    }

    /// The entries of the answer in a history.
    pub(super) fn history(&self) -> Vec<Value> {
        match self {
            Self::Responses(turn) => turn.output().to_vec(),
            Self::Chat(completion) => vec![completion.message().clone()],
            Self::Messages(message) => {
                vec![json!({"role": "assistant", "content": message.json["content"]})]
            }
            Self::Gemini(generation) => vec![generation.content().clone()],
        }
    }
}

/// The texts of the messages.
fn texts(output: &[Value]) -> String {
    let messages = output.iter().filter(|item| item["type"] == "message");
    messages.filter_map(|message| message["content"][0]["text"].as_str()).collect()
}

impl ClientApi {
    /// The events of a stream that has no end of its API.
    pub(super) fn events(self, answer: &Answer) -> Vec<Value> {
        match self {
            Self::Chat | Self::Gemini => {
                let events = chat::events(answer).into_iter();
                events.map(|data| serde_json::from_str(&data).expect("it is JSON")).collect()
            }
            Self::Messages => messages::events(answer),
            Self::Responses => unreachable!("a turn reads its events itself"),
        }
    }
}

//! A client that holds the conversation and resends it with each request.

use serde_json::Value;

use super::{ClientApi, Reply};
use crate::support::{Client, Mode, World};

/// A client of one API, with the history that it resends.
pub(super) struct Dialogue {
    pub(super) client: Client,
    pub(super) api: ClientApi,
    mode: Mode,
    /// The fields of each request, other than the history.
    fields: Vec<(String, Value)>,
    /// Messages, or items of the Responses API.
    pub(super) history: Vec<Value>,
}

impl Dialogue {
    pub(super) fn new(api: ClientApi, client: Client, mode: Mode) -> Self {
        Self { client, api, mode, fields: Vec::new(), history: Vec::new() }
    }

    /// A dialogue with a model that reasons.
    pub(super) fn reasoning(api: ClientApi, world: &World, mode: Mode) -> Self {
        Self::new(api, api.client(world), mode).with_reasoning()
    }

    /// The same client, which asks for reasoning.
    pub(super) fn with_reasoning(self) -> Self {
        let (key, value) = self.api.reasoning();
        self.field(key, value)
    }

    /// The same client, which sets a field of each request.
    pub(super) fn field(mut self, key: &str, value: Value) -> Self {
        self.fields.push((key.to_owned(), value));
        self
    }

    /// The request with these entries after the history.
    pub(super) fn request(&mut self, new: Vec<Value>) -> Value {
        self.history.extend(new);
        let mut request = self.api.request(&self.history);
        for (key, value) in &self.fields {
            request[key] = value.clone();
        }
        request
    }

    /// The request with this text after the history.
    pub(super) fn request_to_say(&mut self, text: &str) -> Value {
        self.request(vec![self.api.said(text)])
    }

    /// Says a text.
    pub(super) async fn say(&mut self, text: &str) -> Reply {
        let request = self.request_to_say(text);
        self.send(&request).await
    }

    /// Answers calls, by their ids.
    pub(super) async fn answer(&mut self, outputs: &[(&str, &str)]) -> Reply {
        let request = self.request(self.api.outputs(outputs));
        self.send(&request).await
    }

    async fn send(&mut self, request: &Value) -> Reply {
        let reply = self.api.send(&self.client, self.mode, request).await;
        self.history.extend(reply.history());
        reply
    }
}

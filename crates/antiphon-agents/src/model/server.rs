//! A server of models, over HTTP.

use antiphon::tracker::{Continuation, ConversationId};
use antiphon::{Item, ItemId};
use antiphon_client::{Client, Request, UpstreamApi};
use async_trait::async_trait;
use serde_json::Value;

use super::{Answer, Backend, ModelError, ModelRequest, ModelSettings};

/// A server of the Responses API, of Chat Completions or of Anthropic's Messages.
///
/// Requests without a continuation are not stored by the server. They ask for encrypted reasoning,
/// which later requests return to the same server and model only.
#[derive(Clone, Debug)]
pub struct Server {
    client: Client,
}

impl Server {
    /// The server of this client.
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    /// The client.
    pub fn client(&self) -> &Client {
        &self.client
    }
}

#[async_trait]
impl Backend for Server {
    async fn respond(&self, request: ModelRequest) -> Result<Answer, ModelError> {
        self.client.respond(with_input(fields(&request, self.client.api()), &request.items)).await
    }

    async fn items(&self, continuation: &Continuation) -> Result<Vec<Item>, ModelError> {
        match continuation {
            Continuation::Conversation { id } => self.client.conversations().items(id).await,
            Continuation::Chain { previous_response_id: Some(id) } => {
                self.client.responses().chain_items(id).await
            }
            Continuation::Chain { previous_response_id: None } => Ok(Vec::new()),
        }
    }

    async fn deliver(
        &self,
        conversation: &ConversationId,
        items: Vec<Item>,
    ) -> Result<(), ModelError> {
        self.client.conversations().add_items(conversation, &items).await.map(drop)
    }

    async fn delete_items(
        &self,
        conversation: &ConversationId,
        ids: Vec<ItemId>,
    ) -> Result<(), ModelError> {
        for id in ids {
            self.client.conversations().delete_item(conversation, id.as_str()).await?;
        }
        Ok(())
    }

    async fn create_conversation(&self, items: Vec<Item>) -> Result<ConversationId, ModelError> {
        self.client.conversations().create(&items).await
    }

    async fn compact(&self, request: ModelRequest) -> Result<Vec<Item>, ModelError> {
        let mut fields = Request::new(&request.model);
        if let Some(instructions) = &request.instructions {
            fields = fields.instructions(instructions);
        }
        let fields = with_continuation(fields, request.continuation.as_ref());
        self.client.responses().compact(&with_input(fields, &request.items)).await
    }
}

/// The body of a request to a server of the Responses API.
#[cfg(feature = "sim")]
pub(super) fn request_of(request: &ModelRequest) -> bytes::Bytes {
    with_input(fields(request, UpstreamApi::Responses), &request.items).body()
}

/// The request without its input.
fn fields(request: &ModelRequest, api: UpstreamApi) -> Request {
    let mut fields = Request::new(&request.model).exact();
    if let Some(instructions) = &request.instructions {
        fields = fields.instructions(instructions);
    }
    for tool in &request.tools {
        fields = fields.tool(tool);
    }
    if let Some(choice) = &request.tool_choice {
        fields = fields.field("tool_choice", choice.to_json());
    }
    fields = with_settings(fields, &request.settings);
    if let Some(format) = &request.output_format {
        fields = fields.field("text", text_with(&request.settings, format.to_json()));
    }
    let is_stateless = request.continuation.is_none() && api == UpstreamApi::Responses;
    let is_stored = request.settings.store.unwrap_or(!is_stateless);
    if is_stateless {
        fields = fields.field("store", is_stored);
    }
    if is_stateless && !is_stored {
        fields = fields.encrypted_reasoning();
    }
    with_continuation(fields, request.continuation.as_ref())
}

/// The `text` of the settings, with this format.
fn text_with(settings: &ModelSettings, format: Value) -> Value {
    let text = settings.other.get("text").and_then(Value::as_object);
    let mut text = text.cloned().unwrap_or_default();
    text.insert("format".to_owned(), format);
    text.into()
}

fn with_settings(mut fields: Request, settings: &ModelSettings) -> Request {
    let settings = serde_json::to_value(settings).expect("settings are valid JSON");
    let Value::Object(settings) = settings else { return fields };
    for (name, value) in settings {
        fields = fields.field(&name, value);
    }
    fields
}

fn with_continuation(fields: Request, continuation: Option<&Continuation>) -> Request {
    match continuation {
        Some(Continuation::Conversation { id }) => fields.conversation(id.as_str()),
        Some(Continuation::Chain { previous_response_id: Some(id) }) => {
            fields.previous_response(id.as_str())
        }
        Some(Continuation::Chain { previous_response_id: None }) | None => fields,
    }
}

fn with_input(fields: Request, items: &[Item]) -> Request {
    if items.is_empty() { fields } else { fields.items(items.iter().cloned()) }
}

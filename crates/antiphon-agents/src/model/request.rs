//! A request to a model.

use std::sync::Arc;

use antiphon::Item;
use antiphon::tracker::Continuation;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::ToolDefinition;

/// A request to a model, in the terms of the Responses API.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelRequest {
    /// The name of the model.
    pub model: String,
    /// The instructions.
    pub instructions: Option<String>,
    /// The input: all items, or with a continuation those that the server does not have yet.
    /// They are shared with the run, so that a request does not copy a history.
    pub items: Arc<Vec<Item>>,
    /// The state of the server that the request continues.
    pub continuation: Option<Continuation>,
    /// The tools.
    pub tools: Vec<ToolDefinition>,
    /// The tools that the model may or must call.
    pub tool_choice: Option<ToolChoice>,
    /// The form of the answer's text; `None` for plain text.
    pub output_format: Option<OutputFormat>,
    /// All other parameters.
    pub settings: ModelSettings,
}

/// The tools that the model may or must call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// No tool.
    None,
    /// Any tool, but at least one.
    Required,
    /// The function with this name.
    Function(String),
    /// Any other value of `tool_choice`.
    Other(Value),
}

/// The form of an answer's text: JSON that matches a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFormat {
    /// The name of the schema: letters, digits, underscores and dashes.
    pub name: String,
    /// The JSON schema.
    pub schema: Value,
    /// Whether the server enforces the schema.
    pub strict: bool,
}

/// The parameters of a request that no other part of it decides. A parameter that is `None` is not
/// sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelSettings {
    /// `temperature`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// `top_p`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// `max_output_tokens`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    /// `parallel_tool_calls`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_tool_calls: Option<bool>,
    /// `reasoning`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<ReasoningSettings>,
    /// `truncation`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncation: Option<String>,
    /// `store`. Without a value, the server stores the responses of a request with a continuation,
    /// and no others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<bool>,
    /// `include`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Any other fields of the request.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The `reasoning` of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReasoningSettings {
    /// `effort`: `low`, `medium`, `high` and others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// `summary`: `auto`, `concise`, `detailed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

impl ModelRequest {
    /// A request to the model `name`, without input.
    pub fn new(model: impl Into<String>) -> Self {
        Self { model: model.into(), ..Self::default() }
    }

    /// Adds items to the input.
    #[must_use]
    pub fn with_items(mut self, items: impl IntoIterator<Item = Item>) -> Self {
        Arc::make_mut(&mut self.items).extend(items);
        self
    }
}

impl ToolChoice {
    /// The value of `tool_choice`.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Auto => "auto".into(),
            Self::None => "none".into(),
            Self::Required => "required".into(),
            Self::Function(name) => json!({"type": "function", "name": name}),
            Self::Other(value) => value.clone(),
        }
    }
}

impl OutputFormat {
    /// The value of `text.format`.
    pub fn to_json(&self) -> Value {
        let Self { name, schema, strict } = self;
        json!({"type": "json_schema", "name": name, "schema": schema, "strict": strict})
    }
}

//! One stored item.

use serde_json::{Value, json};

use crate::ids::Ids;

/// Types of items that have no status.
const WITHOUT_STATUS: [&str; 5] =
    ["compaction", "program", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response"];

/// An item as it is stored: with an id, and `completed`, whatever it was sent as.
#[derive(Debug)]
pub(crate) struct Held {
    id: String,
    value: Value,
    reasoning: Option<String>,
}

impl Held {
    /// Stores an item, under the id that it brings or a new one.
    pub(crate) fn new(mut value: Value, ids: &mut Ids) -> Self {
        if !value["type"].is_string() {
            value["type"] = "message".into();
        }
        let kind = value["type"].as_str().unwrap_or_default().to_owned();
        let id = match value["id"].as_str() {
            Some(id) => id.to_owned(),
            None => ids.next_of_item(&kind),
        };
        value["id"] = id.as_str().into();
        if !WITHOUT_STATUS.contains(&kind.as_str()) {
            value["status"] = "completed".into();
        }
        if kind == "message" {
            in_parts(&mut value);
        }
        Self { id, value, reasoning: None }
    }

    /// The same, made by the model in a turn in which this reasoning led to it.
    pub(crate) fn made_after(self, reasoning: Option<&str>) -> Self {
        Self { reasoning: reasoning.map(str::to_owned), ..self }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The item as it is listed and as the model is given it.
    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    pub(crate) fn is_reasoning(&self) -> bool {
        self.value["type"] == "reasoning"
    }

    /// The reasoning without which it may not be given to the model.
    pub(crate) fn required_reasoning(&self) -> Option<&str> {
        self.reasoning.as_deref()
    }
}

/// A message's text is stored as one part.
fn in_parts(message: &mut Value) {
    let Some(text) = message["content"].as_str() else {
        return;
    };
    message["content"] = match message["role"].as_str() {
        Some("assistant") => {
            json!([{"type": "output_text", "text": text, "annotations": [], "logprobs": []}])
        }
        _ => json!([{"type": "input_text", "text": text}]),
    };
}

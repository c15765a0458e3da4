//! One stored item.

use serde_json::{Value, json};

use crate::ids::Ids;

/// Item types that have no `status` field.
const WITHOUT_STATUS: [&str; 5] =
    ["compaction", "program", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response"];

/// A stored item. It has an id, and its status, if its type has one, is `completed`.
#[derive(Debug)]
pub(crate) struct StoredItem {
    id: String,
    value: Value,
    reasoning: Option<String>,
}

impl StoredItem {
    /// Stores an item under its own id, or under a new one if it has none.
    pub(crate) fn new(mut value: Value, ids: &mut Ids) -> Self {
        if !value["type"].is_string() {
            value["type"] = "message".into();
        }
        let kind = value["type"].as_str().unwrap_or_default().to_owned();
        let id = match value["id"].as_str() {
            Some(id) => id.to_owned(),
            None => ids.next_item_id(&kind),
        };
        value["id"] = id.as_str().into();
        if !WITHOUT_STATUS.contains(&kind.as_str()) {
            value["status"] = "completed".into();
        }
        if kind == "message" {
            split_content(&mut value);
        }
        Self { id, value, reasoning: None }
    }

    /// Marks the item as model output that must follow the reasoning item with this id.
    pub(crate) fn with_required_reasoning(self, reasoning: Option<&str>) -> Self {
        Self { reasoning: reasoning.map(str::to_owned), ..self }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The item as lists show it and as the model receives it.
    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    pub(crate) fn is_reasoning(&self) -> bool {
        self.value["type"] == "reasoning"
    }

    /// The id of the reasoning item that must come before this item in a model's input.
    pub(crate) fn required_reasoning(&self) -> Option<&str> {
        self.reasoning.as_deref()
    }
}

/// Converts a message whose content is a string into one with a single content part.
fn split_content(message: &mut Value) {
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

//! One input item.

use serde_json::{Map, Value};

use crate::Refusal;

/// An input item and its position.
pub struct Item<'a> {
    index: usize,
    fields: &'a Map<String, Value>,
}

impl<'a> Item<'a> {
    /// The item at this position; refused if it is not an object.
    pub fn read((index, raw): (usize, &'a Value)) -> Result<Self, Refusal> {
        match raw {
            Value::Object(fields) => Ok(Self { index, fields }),
            other => Err(Refusal::wrong_type(&format!("input[{index}]"), "an object", other)),
        }
    }

    /// The item's type. Messages may omit it.
    pub fn kind(&self) -> &'a str {
        self.text("type").unwrap_or("message")
    }

    /// The item's type as the provider's texts name it: `function call`.
    pub(super) fn kind_in_words(&self) -> String {
        self.kind().replace('_', " ")
    }

    /// The item's id.
    pub fn id(&self) -> Option<&'a str> {
        self.text("id")
    }

    /// The `call_id` that links a call and its output.
    pub fn call_id(&self) -> Option<&'a str> {
        self.text("call_id")
    }

    /// The encrypted content of reasoning; an empty string counts as none.
    pub fn encrypted_content(&self) -> Option<&'a str> {
        self.text("encrypted_content").filter(|sealed| !sealed.is_empty())
    }

    /// Whether the item is model output, which may follow reasoning. Unknown types count as such.
    pub fn is_model_output(&self) -> bool {
        match self.kind() {
            "message" => self.text("role") == Some("assistant"),
            "item_reference"
            | "mcp_approval_response"
            | "additional_tools"
            | "configuration_update"
            | "compaction_trigger" => false,
            kind => !kind.ends_with("_output"),
        }
    }

    /// The path of a field in error texts: `input[3].id`.
    pub fn param(&self, field: &str) -> String {
        format!("input[{}].{field}", self.index)
    }

    /// A field. Absent and null are equal, because clients send nulls for unset fields.
    pub(super) fn field(&self, name: &str) -> &'a Value {
        self.fields.get(name).unwrap_or(&Value::Null)
    }

    fn text(&self, field: &str) -> Option<&'a str> {
        self.field(field).as_str()
    }
}

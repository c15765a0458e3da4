//! One input item as the judge sees it.

use serde_json::{Map, Value};

use crate::Refusal;

/// An input item and its place in the input.
pub struct Item<'a> {
    index: usize,
    fields: &'a Map<String, Value>,
}

impl<'a> Item<'a> {
    /// The item at this place of an input; what is no object is refused.
    pub fn read((index, raw): (usize, &'a Value)) -> Result<Self, Refusal> {
        match raw {
            Value::Object(fields) => Ok(Self { index, fields }),
            other => Err(Refusal::wrong_type(&format!("input[{index}]"), "an object", other)),
        }
    }

    /// The item's type. Messages may leave it out.
    pub fn kind(&self) -> &'a str {
        self.text("type").unwrap_or("message")
    }

    /// The item's type as the provider's sentences name it.
    pub(super) fn kind_in_words(&self) -> String {
        self.kind().replace('_', " ")
    }

    /// The item's id.
    pub fn id(&self) -> Option<&'a str> {
        self.text("id")
    }

    /// What a call and its output find each other by.
    pub fn call_id(&self) -> Option<&'a str> {
        self.text("call_id")
    }

    /// The sealed content of reasoning; empty is none.
    pub fn encrypted_content(&self) -> Option<&'a str> {
        self.text("encrypted_content").filter(|sealed| !sealed.is_empty())
    }

    /// Whether the model made it: what reasoning may lead to. Types that nobody knows may be its.
    pub fn is_of_the_model(&self) -> bool {
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

    /// The name of one of its fields in an error: `input[3].id`.
    pub fn param(&self, field: &str) -> String {
        format!("input[{}].{field}", self.index)
    }

    /// A field as it was sent; absent and null are the same, as clients make nulls up.
    pub(super) fn field(&self, name: &str) -> &'a Value {
        self.fields.get(name).unwrap_or(&Value::Null)
    }

    fn text(&self, field: &str) -> Option<&'a str> {
        self.field(field).as_str()
    }
}

//! The definitions of tools in the JSON of the Responses API.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

/// The definition of a tool, as an entry of `tools` in a request. A clone is cheap.
#[derive(Clone)]
pub struct ToolDefinition(Arc<RawValue>);

impl ToolDefinition {
    /// A function with JSON arguments, which match `parameters` if it is `strict`.
    pub fn function(name: &str, description: &str, parameters: &Value, strict: bool) -> Self {
        let mut fields = named(name, description);
        fields.push(("parameters", parameters.clone()));
        fields.push(("strict", strict.into()));
        Self::new("function", fields)
    }

    /// A tool whose input is text. `format` is its grammar; without one, any text is valid.
    pub fn custom(name: &str, description: &str, format: Option<Value>) -> Self {
        let mut fields = named(name, description);
        fields.extend(format.map(|format| ("format", format)));
        Self::new("custom", fields)
    }

    fn new(kind: &str, fields: Vec<(&str, Value)>) -> Self {
        let mut object = antiphon::json::Object::default();
        object.set_string("type", kind);
        for (name, value) in fields {
            object.set(name, value.to_string());
        }
        let raw = RawValue::from_string(object.to_text()).expect("an object writes valid JSON");
        Self(raw.into())
    }

    /// The definition as JSON text.
    pub fn json(&self) -> &str {
        self.0.get()
    }

    /// The definition as a JSON value.
    pub fn to_json(&self) -> Value {
        serde_json::from_str(self.json()).expect("a definition is JSON")
    }
}

/// The fields of a tool's name and description.
fn named(name: &str, description: &str) -> Vec<(&'static str, Value)> {
    let described = (!description.is_empty()).then(|| ("description", description.into()));
    [("name", name.into())].into_iter().chain(described).collect()
}

impl From<&Map<String, Value>> for ToolDefinition {
    fn from(fields: &Map<String, Value>) -> Self {
        Self(to_raw_value(fields).expect("a JSON object has a JSON form").into())
    }
}

impl Serialize for ToolDefinition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl fmt::Debug for ToolDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.json())
    }
}

impl PartialEq for ToolDefinition {
    fn eq(&self, other: &Self) -> bool {
        self.json() == other.json()
    }
}

impl Eq for ToolDefinition {}

//! A reply and its output format.

use serde_json::{Map, Value, json};

use super::SimError;
use super::arguments;
use super::evidence::Evidence;
use super::style::Style;
use super::text::shorten;

/// The maximum number of characters that an acknowledgement repeats.
const QUOTED: usize = 160;

/// The value of `text.format`.
#[derive(Debug)]
pub(super) enum Format {
    Text,
    JsonObject,
    JsonSchema { name: String, schema: Value },
}

impl Format {
    /// Parses the request's `text`.
    pub(super) fn read(text: &Map<String, Value>) -> Result<Self, SimError> {
        let Some(format) = text.get("format").filter(|format| !format.is_null()) else {
            return Ok(Self::Text);
        };
        match format["type"].as_str() {
            Some("text") => Ok(Self::Text),
            Some("json_object") => Ok(Self::JsonObject),
            Some("json_schema") if !format["schema"].is_null() => Ok(Self::JsonSchema {
                name: format["name"].as_str().unwrap_or("response").to_owned(),
                schema: format["schema"].clone(),
            }),
            Some("json_schema") => Err(invalid("a 'schema' beside the type 'json_schema'")),
            _ => Err(invalid("a 'type' of 'text', 'json_object' or 'json_schema'")),
        }
    }
}

/// A reply of the model.
#[derive(Debug)]
pub(super) struct Reply {
    /// The sentence of a text answer.
    sentence: String,
    /// The subject of the sentence: a JSON answer takes its values from this text.
    matter: String,
}

impl Reply {
    pub(super) fn new(sentence: impl Into<String>) -> Self {
        let sentence = sentence.into();
        Self { matter: sentence.clone(), sentence }
    }

    /// A reply that acknowledges `statement`.
    pub(super) fn acknowledge(statement: &str) -> Self {
        let quoted = match shorten(statement, QUOTED) {
            quoted if quoted.is_empty() => "an empty message".to_owned(),
            quoted => quoted,
        };
        let end = if quoted.ends_with(['.', '!', '?', '…']) { "" } else { "." };
        Self { sentence: format!("Noted: {quoted}{end}"), matter: statement.to_owned() }
    }

    /// The same reply in another style.
    pub(super) fn in_style(self, style: Style) -> Self {
        Self { sentence: style.apply(self.sentence), ..self }
    }

    /// The answer in the format that the request asks for.
    pub(super) fn written(self, format: &Format) -> Result<String, SimError> {
        match format {
            Format::Text => Ok(self.sentence),
            Format::JsonObject => Ok(json!({ "answer": self.sentence }).to_string()),
            Format::JsonSchema { name, schema } => {
                let evidence = Evidence::whole(&self.matter);
                let subject = || format!("response format '{name}'");
                Ok(arguments::from_schema(schema, evidence, subject)?.to_string())
            }
        }
    }
}

fn invalid(expected: &'static str) -> SimError {
    SimError::InvalidParameter { param: "text.format".to_owned(), expected }
}

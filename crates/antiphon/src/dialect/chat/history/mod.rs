//! Converts a Chat Completions message array into items of the Responses API.

mod calls;
mod content;
mod message;
mod reasoning;
#[cfg(test)]
pub(in crate::dialect::chat) mod tests;

use serde_json::value::RawValue;

use crate::item::Item;
use crate::json::Object;
use crate::transcript::Origin;
use calls::Calls;

/// An error in a Chat Completions history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChatHistoryError {
    /// The value is not an array.
    #[error("expected an array of messages: {0}")]
    NotAnArray(String),
    /// A value is not a message, or no item can represent it.
    #[error("messages[{position}]{path}: {reason}")]
    Message {
        /// The position of the message, from 0.
        position: usize,
        /// The path in the message: empty, or `.content[0]`.
        path: String,
        /// The reason.
        reason: String,
    },
}

/// Converts a Chat Completions message array into items, in order, without item ids.
///
/// An assistant message becomes its reasoning, its text and its calls, in that order. A deprecated
/// `function_call` has no id: it gets one from its position, and the next `function` message with
/// its name becomes its output. With an `origin`, the server of the assistant messages, reasoning
/// is sealed for it.
///
/// Guarantee: messages that [`UpstreamApi::encoder`](crate::dialect::UpstreamApi::encoder) wrote
/// lose nothing. If they are encoded again for `origin`, the JSON is the same. Fields that only
/// describe an answer (`annotations`) and unknown fields are dropped.
///
/// Calls without output and outputs without call are converted as they are. Takes linear time.
pub fn parse_items(
    messages: &[u8],
    origin: Option<&Origin>,
) -> Result<Vec<Item>, ChatHistoryError> {
    parse_items_with_sources(messages, origin).map(|(items, _)| items)
}

/// Like [`parse_items`], with the position of each item's message.
pub(crate) fn parse_items_with_sources(
    messages: &[u8],
    origin: Option<&Origin>,
) -> Result<(Vec<Item>, Vec<usize>), ChatHistoryError> {
    let raws: Vec<&RawValue> = serde_json::from_slice(messages)
        .map_err(|error| ChatHistoryError::NotAnArray(error.to_string()))?;
    let mut decoder = Decoder { origin, calls: Calls::default(), items: Vec::new() };
    let mut sources = Vec::with_capacity(raws.len());
    for (position, raw) in raws.iter().enumerate() {
        decoder.decode_message(raw.get()).map_err(|flaw| flaw.at(position))?;
        sources.resize(decoder.items.len(), position);
    }
    Ok((decoder.items, sources))
}

/// The items of the messages so far.
struct Decoder<'a> {
    origin: Option<&'a Origin>,
    calls: Calls,
    items: Vec<Item>,
}

/// An error in a message.
struct Flaw {
    path: String,
    reason: String,
}

impl Flaw {
    fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), reason: reason.into() }
    }

    fn at(self, position: usize) -> ChatHistoryError {
        ChatHistoryError::Message { position, path: self.path, reason: self.reason }
    }
}

impl Decoder<'_> {
    fn decode_message(&mut self, raw: &str) -> Result<(), Flaw> {
        let message = Object::parse(raw.as_bytes());
        let message = message.map_err(|error| Flaw::new("", error.to_string()))?;
        let role = message.string("role");
        match role.as_deref() {
            Some(role @ ("system" | "developer" | "user")) => self.message(role, &message),
            Some("assistant") => self.assistant(&message),
            Some("tool") => self.tool(&message),
            Some("function") => self.function(&message),
            Some(role) => Err(Flaw::new(".role", format!("'{role}' is not a valid role"))),
            None => Err(Flaw::new(".role", "expected a string")),
        }
    }

    /// Appends the item `json`.
    fn push(&mut self, json: String) -> Result<(), Flaw> {
        let item = Item::parse(json.into()).map_err(|error| Flaw::new("", error.to_string()))?;
        self.items.push(item);
        Ok(())
    }
}

/// The raw string under `field` of the object at `path`.
fn string<'a>(object: &'a Object<'_>, field: &str, path: &str) -> Result<&'a str, Flaw> {
    let value = object.get(field).filter(|raw| raw.starts_with('"'));
    value.ok_or_else(|| Flaw::new(format!("{path}.{field}"), "expected a string"))
}

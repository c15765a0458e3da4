//! The way back: a Chat Completions message array as items of the Responses API.

mod calls;
mod content;
mod message;
mod reasoning;
#[cfg(test)]
mod tests;

use serde_json::value::RawValue;

use crate::item::Item;
use crate::json::Object;
use crate::transcript::Origin;
use calls::Calls;

/// Why a JSON value is no Chat Completions history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// Not an array.
    #[error("expected an array of messages: {0}")]
    NotAnArray(String),
    /// One of the values in it is no message, or one that no item can stand for.
    #[error("messages[{position}]{path}: {reason}")]
    Message {
        /// Which one, from 0.
        position: usize,
        /// Where in it: empty, or `.content[0]`.
        path: String,
        /// What is wrong there.
        reason: String,
    },
}

/// The items that a Chat Completions message array stands for, in order, without ids of their own.
///
/// An assistant's message becomes its reasoning, its text and its calls, in that order. The older
/// `function_call`, which has no id, gets one from its position, and the `function` message of its
/// name answers it. Reasoning is sealed for `origin`, the server that made it, where that is given.
///
/// Guarantee: of messages as [`encode`](crate::dialect::encode) writes them nothing is lost, so that
/// encoded again for `origin` they are the same JSON. Fields that tell only of an answer
/// (`annotations`) and those that nobody here knows are not carried.
///
/// It repairs nothing: calls without output and outputs without call come through as they are.
/// Linear in the messages.
pub fn items_of(messages: &[u8], origin: Option<&Origin>) -> Result<Vec<Item>, HistoryError> {
    items_and_sources(messages, origin).map(|(items, _)| items)
}

/// The same, and for each item the position of its message.
pub(crate) fn items_and_sources(
    messages: &[u8],
    origin: Option<&Origin>,
) -> Result<(Vec<Item>, Vec<usize>), HistoryError> {
    let raws: Vec<&RawValue> = serde_json::from_slice(messages)
        .map_err(|error| HistoryError::NotAnArray(error.to_string()))?;
    let mut decoder = Decoder { origin, calls: Calls::default(), items: Vec::new() };
    let mut sources = Vec::with_capacity(raws.len());
    for (position, raw) in raws.iter().enumerate() {
        decoder.hear(raw.get()).map_err(|flaw| flaw.at(position))?;
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

/// What is wrong in a message.
struct Flaw {
    path: String,
    reason: String,
}

impl Flaw {
    fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), reason: reason.into() }
    }

    fn at(self, position: usize) -> HistoryError {
        HistoryError::Message { position, path: self.path, reason: self.reason }
    }
}

impl Decoder<'_> {
    fn hear(&mut self, raw: &str) -> Result<(), Flaw> {
        let message = Object::parse(raw.as_bytes());
        let message = message.map_err(|error| Flaw::new("", error.to_string()))?;
        let role = message.string("role");
        match role.as_deref() {
            Some(role @ ("system" | "developer" | "user")) => self.said(role, &message),
            Some("assistant") => self.assistant(&message),
            Some("tool") => self.tool(&message),
            Some("function") => self.function(&message),
            Some(role) => Err(Flaw::new(".role", format!("'{role}' is no role"))),
            None => Err(Flaw::new(".role", "a message has to have one, as a string")),
        }
    }

    /// Takes the item that `json` is.
    fn push(&mut self, json: String) -> Result<(), Flaw> {
        let item = Item::parse(json.into()).map_err(|error| Flaw::new("", error.to_string()))?;
        self.items.push(item);
        Ok(())
    }
}

/// The raw string under `field` of an object that stands at `path`.
fn string<'a>(object: &'a Object<'_>, field: &str, path: &str) -> Result<&'a str, Flaw> {
    let value = object.get(field).filter(|raw| raw.starts_with('"'));
    value.ok_or_else(|| Flaw::new(format!("{path}.{field}"), "expected a string"))
}

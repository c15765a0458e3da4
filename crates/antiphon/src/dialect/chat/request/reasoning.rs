//! Returns reasoning to the server that generated it.

use std::collections::{BTreeMap, HashMap};

use super::ChatOmissions;
use crate::dialect::chat::fields::Fields;
use crate::dialect::request::RequestPath;
use crate::dialect::{Dialect, Seal};
use crate::json::{Object, objects};
use crate::transcript::Origin;

/// The reasoning fields of the assistant's message (`reasoning_content`, `reasoning`,
/// `reasoning_details`), merged from all reasoning items of one message: texts and lists are
/// concatenated.
///
/// Only reasoning that this server sealed is returned, unchanged. All other reasoning is left out:
/// another server cannot read it, and plain text has no field that every server accepts.
#[derive(Default)]
pub(super) struct Reasoning {
    fields: BTreeMap<String, Value>,
    /// The raw `extra_content` of calls by call id: Gemini stores the signatures of calls there.
    extras: HashMap<String, String>,
    /// The positions of the items.
    positions: Vec<usize>,
}

/// A value to concatenate, without its delimiters.
enum Value {
    Text(String),
    List(String),
    Other(String),
}

impl Reasoning {
    /// Adds the item at `position` if this server sealed it.
    pub(super) fn add(
        &mut self,
        position: usize,
        item: &Object<'_>,
        origin: &Origin,
        omissions: &mut ChatOmissions,
    ) {
        let sealed = item.string("encrypted_content").and_then(|text| Seal::parse(&text));
        let because = match sealed {
            Some(seal) if seal.is_by(Dialect::Chat, origin) => {
                self.add_seal(&seal);
                return self.positions.push(position);
            }
            Some(_) => "another upstream sealed this reasoning, and only that upstream can use it",
            None => "this reasoning is not sealed for this upstream",
        };
        omissions.leave_out(RequestPath::Item(position, String::new()), because);
    }

    /// The raw `extra_content` of the call with this id.
    pub(super) fn extra_content(&self, call_id: &str) -> Option<&str> {
        self.extras.get(call_id).map(String::as_str)
    }

    /// Writes the fields.
    pub(super) fn write(&self, message: &mut Fields) {
        for (name, value) in &self.fields {
            message.raw(name, &value.to_json());
        }
    }

    /// Reports the items of a message that has only reasoning. Servers reject such a message, so it
    /// is not sent.
    pub(super) fn leave_out(&self, omissions: &mut ChatOmissions) {
        for position in &self.positions {
            let place = RequestPath::Item(*position, String::new());
            omissions.leave_out(place, "no output of the model follows this reasoning");
        }
    }

    fn add_seal(&mut self, seal: &Seal) {
        let content = Object::parse(seal.content.as_bytes()).unwrap_or_default();
        for (name, raw) in content.iter().filter(|(name, raw)| is_reasoning(name, raw)) {
            match self.fields.get_mut(name) {
                Some(value) => value.add(raw),
                None => drop(self.fields.insert(name.to_owned(), Value::from_raw(raw))),
            }
        }
        self.extras.extend(content.get("tool_calls").map(extras).unwrap_or_default());
    }
}

/// The ids and the `extra_content` of these calls.
fn extras(calls: &str) -> Vec<(String, String)> {
    let extra = |call: Object<'_>| {
        let extra = call.get("extra_content").filter(|raw| raw.starts_with('{'))?;
        Some((call.string("id")?.into_owned(), extra.to_owned()))
    };
    objects(calls).into_iter().filter_map(extra).collect()
}

/// Whether a sealed field is reasoning. A seal must not override the other fields of a message.
fn is_reasoning(name: &str, raw: &str) -> bool {
    raw != "null" && !matches!(name, "role" | "content" | "refusal" | "name" | "tool_calls")
}

impl Value {
    fn from_raw(raw: &str) -> Self {
        let inner = || raw[1..raw.len() - 1].trim().to_owned();
        match raw.as_bytes().first() {
            Some(b'"') => Self::Text(raw[1..raw.len() - 1].to_owned()),
            Some(b'[') => Self::List(inner()),
            _ => Self::Other(raw.to_owned()),
        }
    }

    fn add(&mut self, raw: &str) {
        match (self, Self::from_raw(raw)) {
            (Self::Text(text), Self::Text(more)) => text.push_str(&more),
            (Self::List(list), Self::List(more)) => {
                if !list.is_empty() && !more.is_empty() {
                    list.push(',');
                }
                list.push_str(&more);
            }
            (value, later) => *value = later,
        }
    }

    fn to_json(&self) -> String {
        match self {
            Self::Text(text) => format!("\"{text}\""),
            Self::List(list) => format!("[{list}]"),
            Self::Other(raw) => raw.clone(),
        }
    }
}

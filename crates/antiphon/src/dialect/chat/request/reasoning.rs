//! Reasoning on its way back to the server that made it.

use std::collections::{BTreeMap, HashMap};

use super::report::Report;
use crate::dialect::chat::fields::Fields;
use crate::dialect::request::Place;
use crate::dialect::{Dialect, Seal};
use crate::json::{Object, objects};
use crate::transcript::Origin;

/// The assistant message's own fields that hold its reasoning (`reasoning_content`, `reasoning`,
/// `reasoning_details`), of all the reasoning items of one message: texts run on, lists grow.
///
/// Only what this server sealed goes back, exactly so. Any other reasoning is left out: what another
/// made only its maker understands, and plain text has no field that every server takes.
#[derive(Default)]
pub(super) struct Reasoning {
    fields: BTreeMap<String, Value>,
    /// The `extra_content` of calls, raw, by the ids of the calls: Gemini signs calls there.
    extras: HashMap<String, String>,
    /// Where its items stand.
    positions: Vec<usize>,
}

/// A value that grows, without what encloses it.
enum Value {
    Text(String),
    List(String),
    Other(String),
}

impl Reasoning {
    /// Adds the content of the item at `position` where it goes back.
    pub(super) fn add(
        &mut self,
        position: usize,
        item: &Object<'_>,
        origin: &Origin,
        report: &mut Report,
    ) {
        let sealed = item.string("encrypted_content").and_then(|text| Seal::parse(&text));
        let because = match sealed {
            Some(seal) if seal.is_by(Dialect::Chat, origin) => {
                self.open(&seal);
                return self.positions.push(position);
            }
            Some(_) => "this reasoning was made elsewhere, and goes back only there",
            None => "this reasoning is not sealed for this upstream",
        };
        report.leave_out(Place::Item(position, String::new()), because);
    }

    /// What goes back with the call of this id, raw.
    pub(super) fn extra_of(&self, call_id: &str) -> Option<&str> {
        self.extras.get(call_id).map(String::as_str)
    }

    /// Writes the fields.
    pub(super) fn write(&self, message: &mut Fields) {
        for (name, value) in &self.fields {
            message.raw(name, &value.to_json());
        }
    }

    /// The message has nothing else to say, so it is not sent: servers refuse it.
    pub(super) fn leave_out(&self, report: &mut Report) {
        for position in &self.positions {
            let place = Place::Item(*position, String::new());
            report.leave_out(place, "nothing that was made with this reasoning follows it");
        }
    }

    fn open(&mut self, seal: &Seal) {
        let content = Object::parse(seal.content.as_bytes()).unwrap_or_default();
        for (name, raw) in content.iter().filter(|(name, raw)| is_reasoning(name, raw)) {
            match self.fields.get_mut(name) {
                Some(value) => value.add(raw),
                None => drop(self.fields.insert(name.to_owned(), Value::of(raw))),
            }
        }
        self.extras.extend(content.get("tool_calls").map(extras).unwrap_or_default());
    }
}

/// The `extra_content` of each of these calls, with the call's id.
fn extras(calls: &str) -> Vec<(String, String)> {
    let extra = |call: Object<'_>| {
        let extra = call.get("extra_content").filter(|raw| raw.starts_with('{'))?;
        Some((call.string("id")?.into_owned(), extra.to_owned()))
    };
    objects(calls).into_iter().filter_map(extra).collect()
}

/// Whatever a seal holds, what the message says otherwise is not its to say.
fn is_reasoning(name: &str, raw: &str) -> bool {
    raw != "null" && !matches!(name, "role" | "content" | "refusal" | "name" | "tool_calls")
}

impl Value {
    fn of(raw: &str) -> Self {
        let inner = || raw[1..raw.len() - 1].trim().to_owned();
        match raw.as_bytes().first() {
            Some(b'"') => Self::Text(raw[1..raw.len() - 1].to_owned()),
            Some(b'[') => Self::List(inner()),
            _ => Self::Other(raw.to_owned()),
        }
    }

    fn add(&mut self, raw: &str) {
        match (self, Self::of(raw)) {
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

//! Duplicates in a model's input.

use std::collections::HashSet;
use std::fmt;

use serde_json::Value;

use crate::Recorded;

/// A duplicate in a model's input.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Duplicate {
    /// An item, by its id.
    Item(String),
    /// A call or an output of this type for this `call_id`.
    Call(String, String),
    /// A text of this role. Users may repeat themselves, so this alone is not an error. An
    /// assistant's text counts only if it answers the same user text.
    Text(String, String),
}

impl fmt::Display for Duplicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Item(id) => write!(f, "the item {id}"),
            Self::Call(kind, call_id) => write!(f, "a {kind} for {call_id}"),
            Self::Text(role, text) => write!(f, "{role}: {text}"),
        }
    }
}

impl Recorded {
    /// The duplicates in the model's input of this request. Empty if no model ran.
    pub fn duplicates(&self) -> Vec<Duplicate> {
        duplicates(self.model_input.as_deref().unwrap_or_default())
    }
}

fn duplicates(items: &[Value]) -> Vec<Duplicate> {
    let mut seen = HashSet::new();
    let mut user_text = String::new();
    let mut found = Vec::new();
    for item in items {
        for (context, duplicate) in keys(item, &mut user_text) {
            if !seen.insert((context, duplicate.clone())) && !found.contains(&duplicate) {
                found.push(duplicate);
            }
        }
    }
    found
}

/// The keys of an item. A key is a duplicate only if its context is equal too: for an assistant's
/// text, the user's text before it.
fn keys(item: &Value, user_text: &mut String) -> Vec<(String, Duplicate)> {
    let string_field = |field: &str| item[field].as_str().map(str::to_owned);
    let id = string_field("id").map(|id| (String::new(), Duplicate::Item(id)));
    let call = string_field("type").zip(string_field("call_id"));
    let call = call.map(|(kind, call_id)| (String::new(), Duplicate::Call(kind, call_id)));
    let said = string_field("role").map(|role| {
        let text = text(&item["content"]);
        if role == "user" {
            user_text.clone_from(&text);
        }
        let context = if role == "assistant" { user_text.clone() } else { String::new() };
        (context, Duplicate::Text(role, text))
    });
    id.into_iter().chain(call).chain(said).collect()
}

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        other => other.to_string(),
    }
}

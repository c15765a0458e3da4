//! What a model was given more than once.

use std::collections::HashSet;
use std::fmt;

use serde_json::Value;

use crate::Recorded;

/// Something that stands twice in what a model was given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Twice {
    /// An item, by its id.
    Item(String),
    /// A call or an output of this type for this `call_id`.
    Call(String, String),
    /// A text of this role. Where users may say the same twice, this alone is no fault. What an
    /// assistant says counts only behind the same words of a user.
    Text(String, String),
}

impl fmt::Display for Twice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Item(id) => write!(f, "the item {id}"),
            Self::Call(kind, call_id) => write!(f, "a {kind} for {call_id}"),
            Self::Text(role, text) => write!(f, "{role}: {text}"),
        }
    }
}

impl Recorded {
    /// What the model was given twice in this request: nothing, if all is well, and of a request
    /// that asked no model.
    pub fn twice(&self) -> Vec<Twice> {
        twice(self.given.as_deref().unwrap_or_default())
    }
}

fn twice(items: &[Value]) -> Vec<Twice> {
    let mut seen = HashSet::new();
    let mut said_by_user = String::new();
    let mut found = Vec::new();
    for item in items {
        for (behind, mark) in marks(item, &mut said_by_user) {
            if !seen.insert((behind, mark.clone())) && !found.contains(&mark) {
                found.push(mark);
            }
        }
    }
    found
}

/// By what an item is known, each with the words that it has to stand behind to be the same.
fn marks(item: &Value, said_by_user: &mut String) -> Vec<(String, Twice)> {
    let text_of = |field: &str| item[field].as_str().map(str::to_owned);
    let id = text_of("id").map(|id| (String::new(), Twice::Item(id)));
    let call = text_of("type").zip(text_of("call_id"));
    let call = call.map(|(kind, call_id)| (String::new(), Twice::Call(kind, call_id)));
    let said = text_of("role").map(|role| {
        let text = text(&item["content"]);
        if role == "user" {
            said_by_user.clone_from(&text);
        }
        let behind = if role == "assistant" { said_by_user.clone() } else { String::new() };
        (behind, Twice::Text(role, text))
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

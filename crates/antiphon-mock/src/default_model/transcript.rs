//! The input as a conversation.

use serde_json::Value;

use super::tools::{TOOL_SEARCH_OUTPUT, found_names};

/// The texts that the model reads.
pub(super) struct Transcript<'a> {
    items: Vec<&'a Value>,
    user_texts: Vec<String>,
}

impl<'a> Transcript<'a> {
    pub(super) fn from_request(request: &'a Value) -> Self {
        match &request["input"] {
            Value::String(text) => Self { items: Vec::new(), user_texts: vec![text.clone()] },
            input => Self::from_items(input.as_array().into_iter().flatten().collect()),
        }
    }

    fn from_items(items: Vec<&'a Value>) -> Self {
        let from_user = items.iter().filter(|item| item["role"] == "user");
        let texts = from_user.map(|item| text_of(&item["content"]));
        let user_texts = texts.map(|text| without_reminders(&text)).collect();
        Self { items, user_texts }
    }

    /// All user texts, in order.
    pub(super) fn user_texts(&self) -> Vec<&str> {
        self.user_texts.iter().map(String::as_str).collect()
    }

    pub(super) fn last_user_text(&self) -> &str {
        self.user_texts.last().map(String::as_str).unwrap_or_default()
    }

    /// The texts of the outputs at the end of the input; `None` if it ends with another item.
    pub(super) fn trailing_outputs(&self) -> Option<Vec<String>> {
        let is_output =
            |item: &&Value| item["type"].as_str().is_some_and(|it| it.ends_with("_output"));
        let count = self.items.iter().rev().copied().take_while(|it| is_output(it)).count();
        let outputs = &self.items[self.items.len() - count..];
        (count > 0).then(|| outputs.iter().map(|item| output_text(item)).collect())
    }
}

/// The text of an output, or the names of the tools that a search found.
fn output_text(item: &Value) -> String {
    match item["type"].as_str() {
        Some(TOOL_SEARCH_OUTPUT) => found_names(item),
        _ => text_of(&item["output"]),
    }
}

/// The text without the reminders that Claude Code adds to the messages of its user.
fn without_reminders(text: &str) -> String {
    const BEGIN: &str = "<system-reminder>";
    const END: &str = "</system-reminder>";
    let mut said = text.to_owned();
    while let Some(from) = said.find(BEGIN)
        && let Some(length) = said[from..].find(END)
    {
        said.replace_range(from..from + length + END.len(), "");
    }
    said.trim().to_owned()
}

/// A string, the joined texts of content parts, or anything else as JSON.
pub(super) fn text_of(content: &Value) -> String {
    match content {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        other => other.to_string(),
    }
}

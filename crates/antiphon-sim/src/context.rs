//! The input of the model.

use serde_json::Value;

use super::SimError;
use super::item::{Item, Part, describe, text_of};
use super::text::chunks;

/// The instructions and the items of one request. The model knows nothing else.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) instructions: Option<String>,
    pub(super) items: Vec<Item>,
}

/// The output of one tool call.
#[derive(Debug)]
pub(super) struct Returned {
    pub(super) tool: String,
    pub(super) output: String,
}

impl Returned {
    /// The output as a sentence, as in `echo returned: hello`.
    pub(super) fn sentence(&self) -> String {
        format!("{} returned: {}", self.tool, self.output)
    }
}

impl Context {
    pub(super) fn read(instructions: Option<String>, input: &Value) -> Result<Self, SimError> {
        let items = match input {
            Value::String(text) => vec![Item::Message {
                role: "user".to_owned(),
                parts: vec![Part::Text(text.clone())],
            }],
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| Item::read(index, item))
                .collect::<Result<_, _>>()?,
            _ => {
                return Err(SimError::InvalidParameter {
                    param: "input".to_owned(),
                    expected: "a string or an array of items",
                });
            }
        };
        Ok(Self { instructions, items })
    }

    /// The content of the last user message; empty if there is none.
    pub(super) fn last_user_message(&self) -> &[Part] {
        self.user_messages().last().unwrap_or_default()
    }

    /// The contents of all user messages, oldest first.
    pub(super) fn user_messages(&self) -> impl Iterator<Item = &[Part]> {
        self.messages(|role| role == "user")
    }

    /// The instructions, followed by every system and developer message.
    pub(super) fn guidance(&self) -> Vec<String> {
        let messages = self.messages(is_guidance).map(text_of);
        self.instructions.iter().cloned().chain(messages).collect()
    }

    /// All tool outputs, oldest first.
    pub(super) fn returned(&self) -> Vec<Returned> {
        (0..self.items.len()).filter_map(|at| self.returned_at(at)).collect()
    }

    /// The outputs at the end of the context, after the last message or reasoning. Later system and
    /// developer messages are skipped, because frameworks put reminders there.
    pub(super) fn just_returned(&self) -> Vec<Returned> {
        let end = self.items.iter().rposition(|item| !is_reminder(item)).map_or(0, |last| last + 1);
        let start = self.items[..end]
            .iter()
            .rposition(|item| !matches!(item, Item::Call { .. } | Item::Output { .. }))
            .map_or(0, |before| before + 1);
        (start..end).filter_map(|at| self.returned_at(at)).collect()
    }

    /// The number of words in the context. One word counts as one token.
    pub(super) fn word_count(&self) -> usize {
        let instructions = self.instructions.as_deref().map_or(0, |text| chunks(text).len());
        instructions + self.items.iter().map(|item| chunks(&item.text()).len()).sum::<usize>()
    }

    fn messages(&self, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = &[Part]> {
        self.items.iter().filter_map(move |item| match item {
            Item::Message { role, parts } if wanted(role) => Some(parts.as_slice()),
            _ => None,
        })
    }

    fn returned_at(&self, at: usize) -> Option<Returned> {
        let Item::Output { kind, call_id, name, parts } = &self.items[at] else {
            return None;
        };
        let tool = self.caller_of(at, kind, call_id).or(name.as_deref()).unwrap_or(call_id);
        Some(Returned { tool: tool.to_owned(), output: describe(parts) })
    }

    /// The name of the nearest earlier call that the output answers.
    fn caller_of(&self, output: usize, output_kind: &str, answered: &str) -> Option<&str> {
        self.items[..output].iter().rev().find_map(|item| match item {
            Item::Call { kind, call_id, name, .. } => {
                let same_kind = output_kind.strip_suffix("_output") == Some(kind.as_str());
                (same_kind && call_id == answered).then_some(name.as_str())
            }
            _ => None,
        })
    }
}

fn is_reminder(item: &Item) -> bool {
    matches!(item, Item::Message { role, .. } if is_guidance(role))
}

fn is_guidance(role: &str) -> bool {
    matches!(role, "system" | "developer")
}

//! What the two specifications of one stream name differently.

use std::borrow::Cow;

use super::heard::Heard;

/// The names of a stream's events, where OpenAI's Responses API and the Open Responses
/// specification (2026-04-24) differ: OpenAI tells a model's raw reasoning in
/// `response.reasoning_text.delta` and `.done`, Open Responses in `response.reasoning.delta` and
/// `.done`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// As OpenAI's clients expect them.
    #[default]
    OpenAi,
    /// As the Open Responses specification has them.
    OpenResponses,
}

/// Event types, by OpenAI's name and by that of Open Responses.
const NAMES: [(&str, &str); 2] = [
    ("response.reasoning_text.delta", "response.reasoning.delta"),
    ("response.reasoning_text.done", "response.reasoning.done"),
];

impl Form {
    /// The `type` of an upstream's event, as this form has it.
    pub(super) fn name(self, heard: &Heard<'_>) -> Cow<'static, str> {
        match heard.name() {
            Cow::Borrowed(name) => Cow::Borrowed(self.own_name(name)),
            Cow::Owned(unknown) => Cow::Owned(unknown),
        }
    }

    /// The same of an event of our own.
    pub(super) fn own_name(self, name: &'static str) -> &'static str {
        let pair = NAMES.iter().find(|pair| pair.0 == name || pair.1 == name);
        match (pair, self) {
            (None, _) => name,
            (Some((name, _)), Self::OpenAi) | (Some((_, name)), Self::OpenResponses) => name,
        }
    }
}

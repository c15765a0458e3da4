//! Event names that differ between the two specifications.

use std::borrow::Cow;

use super::upstream_event::UpstreamEvent;

/// The specification that names the events of a stream. OpenAI's Responses API calls the events of
/// a model's raw reasoning `response.reasoning_text.delta` and `.done`, Open Responses (2026-04-24)
/// calls them `response.reasoning.delta` and `.done`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The names of OpenAI's API.
    #[default]
    OpenAi,
    /// The names of the Open Responses specification.
    OpenResponses,
}

/// Event types: OpenAI's name and the name in Open Responses.
const NAMES: [(&str, &str); 2] = [
    ("response.reasoning_text.delta", "response.reasoning.delta"),
    ("response.reasoning_text.done", "response.reasoning.done"),
];

impl Form {
    /// The `type` of an upstream's event in this specification.
    pub(super) fn name(self, event: &UpstreamEvent<'_>) -> Cow<'static, str> {
        match event.name() {
            Cow::Borrowed(name) => Cow::Borrowed(self.own_name(name)),
            unknown @ Cow::Owned(_) => unknown,
        }
    }

    /// The `type` of an event of our own in this specification.
    pub(super) fn own_name(self, name: &'static str) -> &'static str {
        let pair = NAMES.iter().find(|pair| pair.0 == name || pair.1 == name);
        match (pair, self) {
            (None, _) => name,
            (Some((name, _)), Self::OpenAi) | (Some((_, name)), Self::OpenResponses) => name,
        }
    }
}

//! Writes the output of an assembler in a client's dialect.

use super::{Dialect, anthropic};
use crate::stream::{Event, Finished, Note};

/// The stream for a client, and the same answer as one object.
///
/// ```text
///   event ──> … ──> event ──> end
/// ```
pub enum Writer {
    /// Writes the assembler's events unchanged.
    Responses,
    /// Writes the events of Anthropic Messages.
    Anthropic(anthropic::AnthropicWriter),
}

impl Writer {
    /// A writer in `dialect`; `None` if the dialect has no writer.
    pub fn new(dialect: Dialect) -> Option<Self> {
        match dialect {
            Dialect::Responses => Some(Self::Responses),
            Dialect::Anthropic => Some(Self::Anthropic(anthropic::AnthropicWriter::new())),
            Dialect::Chat | Dialect::AiSdk => None,
        }
    }

    /// Converts one event of the assembler, except the terminal event.
    pub fn event(&mut self, event: Event) -> Vec<Event> {
        match self {
            Self::Responses => vec![event],
            Self::Anthropic(writer) => writer.event(&event),
        }
    }

    /// Writes the end of the stream.
    pub fn end(&mut self, finished: &Finished) -> Vec<Event> {
        match self {
            Self::Responses => vec![finished.event.clone()],
            Self::Anthropic(writer) => writer.end(finished),
        }
    }

    /// Notes for the parts of the answer that the dialect cannot carry.
    pub fn left_out(&self, finished: &Finished) -> Vec<Note> {
        match self {
            Self::Responses => Vec::new(),
            Self::Anthropic(_) => anthropic::left_out(finished),
        }
    }

    /// Whether the stream ends with `[DONE]`.
    pub fn ends_with_done(&self) -> bool {
        matches!(self, Self::Responses)
    }

    /// The whole answer as one JSON object.
    pub fn fold(&self, finished: &Finished) -> String {
        match self {
            Self::Responses => finished.response.clone(),
            Self::Anthropic(_) => anthropic::fold(finished),
        }
    }
}

//! Writes what an assembler made, in a client's dialect.

use super::{Dialect, anthropic};
use crate::stream::{Event, Finished, Note};

/// A stream for a client, and the same answer in one piece.
///
/// ```text
///   event ──> … ──> event ──> end
/// ```
pub enum Writer {
    /// The events as the assembler made them.
    Responses,
    /// As Anthropic Messages has them.
    Anthropic(anthropic::Writer),
}

impl Writer {
    /// A writer in `dialect`; `None` where clients of that dialect are not written to.
    pub fn new(dialect: Dialect) -> Option<Self> {
        match dialect {
            Dialect::Responses => Some(Self::Responses),
            Dialect::Anthropic => Some(Self::Anthropic(anthropic::Writer::new())),
            Dialect::Chat | Dialect::AiSdk => None,
        }
    }

    /// What the client is told by one of the assembler's events, the terminal one excepted.
    pub fn event(&mut self, event: Event) -> Vec<Event> {
        match self {
            Self::Responses => vec![event],
            Self::Anthropic(writer) => writer.event(&event),
        }
    }

    /// What the client is told by the end.
    pub fn end(&mut self, finished: &Finished) -> Vec<Event> {
        match self {
            Self::Responses => vec![finished.event.clone()],
            Self::Anthropic(writer) => writer.end(finished),
        }
    }

    /// What of the answer clients of this dialect cannot be told.
    pub fn left_out(&self, finished: &Finished) -> Vec<Note> {
        match self {
            Self::Responses => Vec::new(),
            Self::Anthropic(_) => anthropic::left_out(finished),
        }
    }

    /// Whether `[DONE]` ends the stream.
    pub fn says_done(&self) -> bool {
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

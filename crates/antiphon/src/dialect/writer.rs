//! Writes the output of an assembler in a client's dialect.

use super::{Dialect, anthropic, chat, gemini};
use crate::json::Object;
use crate::stream::{Event, Finished, Note};

/// The stream for a client, and the same answer as one object.
///
/// ```text
///   event ──> … ──> event ──> end
/// ```
pub enum Writer {
    /// Writes the assembler's events unchanged.
    Responses,
    /// Writes the chunks of Chat Completions. Their events have no type.
    Chat(Box<chat::ChatWriter>),
    /// Writes the events of Anthropic Messages.
    Anthropic(anthropic::AnthropicWriter),
    /// Writes the chunks of the Gemini API. Their events have no type.
    Gemini(Box<gemini::GeminiWriter>),
}

impl Writer {
    /// A writer in `dialect`; `None` if the dialect has no writer.
    pub fn new(dialect: Dialect) -> Option<Self> {
        match dialect {
            Dialect::Responses => Some(Self::Responses),
            Dialect::Chat => Some(Self::Chat(Box::new(chat::ChatWriter::with_usage()))),
            Dialect::Anthropic => Some(Self::Anthropic(anthropic::AnthropicWriter::new(None))),
            Dialect::AiSdk => None,
        }
    }

    /// Converts one event of the assembler, except the terminal event.
    pub fn event(&mut self, event: Event) -> Vec<Event> {
        match self {
            Self::Responses => vec![event],
            Self::Chat(writer) => writer.event(&event),
            Self::Anthropic(writer) => writer.event(&event),
            Self::Gemini(writer) => writer.event(&event),
        }
    }

    /// Writes the end of the stream.
    pub fn end(&mut self, finished: &Finished) -> Vec<Event> {
        match self {
            Self::Responses => vec![finished.event.clone()],
            _ => self.end_response(&response_of(finished)),
        }
    }

    /// Writes the end of a stream in another dialect than that of the Responses API. `response` is
    /// the response object of the terminal event.
    pub fn end_response(&mut self, response: &Object<'_>) -> Vec<Event> {
        match self {
            Self::Responses => Vec::new(),
            Self::Chat(writer) => writer.end(response),
            Self::Anthropic(writer) => writer.end(response),
            Self::Gemini(writer) => writer.end(response),
        }
    }

    /// Notes for the parts of the answer that the dialect cannot carry.
    pub fn left_out(&self, finished: &Finished) -> Vec<Note> {
        match self {
            Self::Responses => Vec::new(),
            Self::Chat(_) => chat::left_out(finished),
            Self::Anthropic(_) => anthropic::left_out(finished),
            Self::Gemini(_) => gemini::left_out(finished),
        }
    }

    /// Whether the stream ends with `[DONE]`. A stream of Chat Completions that has ended with an
    /// error does not.
    pub fn ends_with_done(&self) -> bool {
        match self {
            Self::Responses => true,
            Self::Chat(writer) => !writer.has_failed(),
            Self::Anthropic(_) | Self::Gemini(_) => false,
        }
    }

    /// The whole answer as one JSON object.
    pub fn fold(&self, finished: &Finished) -> String {
        match self {
            Self::Responses => finished.response.clone(),
            _ => self.fold_response(&response_of(finished)),
        }
    }

    /// The whole answer as one JSON object, from the response object.
    pub fn fold_response(&self, response: &Object<'_>) -> String {
        match self {
            Self::Responses => response.to_text(),
            Self::Chat(writer) => writer.fold(response),
            Self::Anthropic(writer) => writer.fold(response),
            Self::Gemini(writer) => writer.fold(response),
        }
    }
}

fn response_of(finished: &Finished) -> Object<'_> {
    Object::parse_str(&finished.response).unwrap_or_default()
}

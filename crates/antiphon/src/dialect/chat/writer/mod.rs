//! Writes answers of the Chat Completions API: the stream of chunks, and the whole completion.
//!
//! Source: OpenAI's reference of the Chat Completions API. Mapping:
//!
//! | output item | in the message |
//! |---|---|
//! | message | `content`; a refusal is `refusal` |
//! | function call | an entry of `tool_calls` |
//! | any other | nothing |

use crate::json::{Object, quote};
use crate::stream::{Event, Finished, Note};

/// Writes the chunks of the Chat Completions API.
pub struct ChatWriter {
    /// Whether the client asked for a last chunk with the usage.
    _includes_usage: bool,
}

impl ChatWriter {
    /// A writer of the answer to a client's request.
    pub(in crate::dialect) fn new(request: &Object<'_>) -> Self {
        let options = request.object("stream_options").unwrap_or_default();
        Self { _includes_usage: options.is_true("include_usage") }
    }

    pub(in crate::dialect) fn event(&mut self, event: &Event) -> Vec<Event> {
        let _ = event;
        Vec::new()
    }

    pub(in crate::dialect) fn end(&mut self, response: &Object<'_>) -> Vec<Event> {
        let _ = response;
        Vec::new()
    }

    pub(in crate::dialect) fn fold(&self, response: &Object<'_>) -> String {
        format!(r#"{{"id":{}}}"#, quote(&response.string("id").unwrap_or_default()))
    }
}

/// Notes for the output items that Chat Completions cannot carry.
pub(in crate::dialect) fn left_out(finished: &Finished) -> Vec<Note> {
    let _ = finished;
    Vec::new()
}

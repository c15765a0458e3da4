//! Writes Anthropic Messages: the stream of an answer, and the same in one piece.
//!
//! Source: Anthropic's documentation of streaming, of errors and of extended thinking. What an output
//! item becomes:
//!
//! | output item | content blocks |
//! |---|---|
//! | message | a `text` block for each part that says something; refusals are text too |
//! | reasoning | `thinking` with its text, summary or raw, and a signature; or `redacted_thinking` |
//! | function call | `tool_use` |
//! | custom tool call | `tool_use` with the text as the `input` of its input |
//! | `anthropic:<type>` | the block that it holds |
//! | any other | nothing |

mod block;
mod ending;
mod fold;
mod line;
mod seal;
mod speaker;
#[cfg(test)]
mod tests;

pub(in crate::dialect) use self::fold::{fold, left_out};

use self::block::{ToolIds, message};
use self::ending::Outcome;
use self::line::Line;
use self::speaker::Speaker;
use crate::json::Object;
use crate::stream::{Event, Finished};

/// Writes Anthropic Messages events.
///
/// ```text
///   message_start ──> per block: start, deltas, stop ──> message_delta ──> message_stop
///                                                   └──> error
/// ```
///
/// Guarantees:
/// - Blocks count from 0 without gaps, in the order of the output, one after the other. What is said
///   in an item while an earlier one is open is held until that one ends.
/// - Every block that starts stops; no two `tool_use` blocks have one id.
/// - Deltas of texts are passed on as they are written; those that were held are told as one.
/// - A failed response ends with an `error` event. Anthropic's clients raise on it and read nothing
///   behind it, so nothing follows.
pub struct Writer {
    line: Line,
    tools: ToolIds,
    /// The output items, by their index.
    speakers: Vec<Speaker>,
}

impl Writer {
    pub(in crate::dialect) fn new() -> Self {
        Self { line: Line::default(), tools: ToolIds::default(), speakers: Vec::new() }
    }

    pub(in crate::dialect) fn event(&mut self, event: &Event) -> Vec<Event> {
        if let Ok(fields) = Object::parse(&event.data) {
            match &*event.kind {
                "response.created" => self.begin(&fields),
                "response.output_item.added" => self.announce(&fields),
                kind => self.within_item(kind, &fields),
            }
        }
        self.line.told()
    }

    pub(in crate::dialect) fn end(&mut self, finished: &Finished) -> Vec<Event> {
        self.line.end();
        let mut told = self.line.told();
        told.extend(Outcome::of(finished).events());
        told
    }

    fn begin(&mut self, event: &Object<'_>) {
        let response = event.object("response").unwrap_or_default();
        let message = message(&response, "", "null", None);
        let data = format!(r#"{{"type":"message_start","message":{message}}}"#);
        self.line.tell("message_start", data);
    }

    fn announce(&mut self, event: &Object<'_>) {
        let item = event.object("item").unwrap_or_default();
        let at = self.speakers.len();
        self.speakers.push(Speaker::announced(at, &item, &mut self.tools, &mut self.line));
    }

    fn within_item(&mut self, kind: &str, event: &Object<'_>) {
        let Some(at) = number(event, "output_index") else { return };
        if let Some(speaker) = self.speakers.get_mut(at) {
            speaker.hear(at, kind, event, &mut self.line);
        }
    }
}

/// The number under `key`, as a position.
fn number(event: &Object<'_>, key: &str) -> Option<usize> {
    event.get(key)?.parse().ok()
}

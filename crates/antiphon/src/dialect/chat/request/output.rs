//! Converts a call's output into a `tool` message.

use super::content::{Content, EMPTY_TEXT};
use super::parts::Author;
use super::report::Report;
use crate::dialect::chat::fields::{Fields, array};
use crate::dialect::request::{RequestPath, Unsupported};
use crate::json::{Object, unquote};

const CARRIED: &[&str] = &["type", "id", "call_id", "output", "status"];

/// The text of an output that has only images, files or audio.
const FOLLOWS: &str = "The output follows in the next message.";

/// An output: its text, and the parts that a `tool` message cannot hold.
pub(super) struct Output {
    content: String,
    media: Vec<String>,
}

impl Output {
    /// The output at `position`.
    ///
    /// A `tool` message holds only text. Images, files and audio go into a user message after all
    /// outputs of the turn, labelled with their `call_id`, and are reported.
    pub(super) fn from_item(
        position: usize,
        item: &Object<'_>,
        report: &mut Report,
    ) -> Result<Self, Unsupported> {
        report.leave_out_fields(position, item, CARRIED);
        let mut content = Content::parse(item.present("output"), Author::Tool, position, "output")?;
        let media = content.take_media();
        if !media.is_empty() {
            let because = "an output holds only text; the other parts follow in a user message";
            report.leave_out(RequestPath::Item(position, "output".into()), because);
        }
        let empty = if media.is_empty() { EMPTY_TEXT.to_owned() } else { format!("\"{FOLLOWS}\"") };
        Ok(Self { content: content.into_json().unwrap_or(empty), media })
    }

    /// The `tool` message with the output of the call with this raw id.
    pub(super) fn message(&self, call_id: &str) -> String {
        let mut message = Fields::new();
        message.raw("role", r#""tool""#).raw("tool_call_id", call_id);
        message.raw("content", &self.content).json()
    }

    /// The parts for the user message, after a label with the `call_id`.
    pub(super) fn into_media(self, call_id: &str) -> Vec<String> {
        if self.media.is_empty() {
            return self.media;
        }
        let call_id = unquote(call_id).unwrap_or_default();
        let label =
            Fields::with_type("text").string("text", &format!("Output of {call_id}:")).json();
        [vec![label], self.media].concat()
    }
}

/// The user message with the parts that `tool` messages cannot hold.
pub(super) fn media_message(parts: &[String]) -> String {
    Fields::new().raw("role", r#""user""#).raw("content", &array(parts)).json()
}

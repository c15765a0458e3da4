//! A call's output as a `tool` message.

use super::content::{Content, EMPTY_TEXT};
use super::parts::Speaker;
use super::report::Report;
use crate::dialect::chat::fields::{Fields, array};
use crate::dialect::request::{Place, Unsupported};
use crate::json::{Object, unquote};

const CARRIED: &[&str] = &["type", "id", "call_id", "output", "status"];

/// The text of an output that is nothing but images, files or sounds.
const FOLLOWS: &str = "The output follows in the next message.";

/// An output: its text, and what no `tool` message takes.
pub(super) struct Output {
    content: String,
    media: Vec<String>,
}

impl Output {
    /// The output that stands at `position`.
    ///
    /// `tool` messages take only text. Images, files and sounds go in a message of the user behind
    /// all outputs of the group, each under the `call_id` that it answers, and are reported.
    pub(super) fn of(
        position: usize,
        item: &Object<'_>,
        report: &mut Report,
    ) -> Result<Self, Unsupported> {
        report.leave_out_fields(position, item, CARRIED);
        let mut content = Content::of(item.present("output"), Speaker::Tool, position, "output")?;
        let media = content.take_media();
        if !media.is_empty() {
            let because = "an output is text only; the rest of it follows as a user's message";
            report.leave_out(Place::Item(position, "output".into()), because);
        }
        let empty = if media.is_empty() { EMPTY_TEXT.to_owned() } else { format!("\"{FOLLOWS}\"") };
        Ok(Self { content: content.into_json().unwrap_or(empty), media })
    }

    /// The `tool` message that answers the call of this raw id.
    pub(super) fn message(&self, call_id: &str) -> String {
        let mut message = Fields::new();
        message.raw("role", r#""tool""#).raw("tool_call_id", call_id);
        message.raw("content", &self.content).json()
    }

    /// What follows in the user's message: which call it answers, and the parts.
    pub(super) fn into_media(self, call_id: &str) -> Vec<String> {
        if self.media.is_empty() {
            return self.media;
        }
        let call_id = unquote(call_id).unwrap_or_default();
        let label = Fields::of_type("text").string("text", &format!("Output of {call_id}:")).json();
        [vec![label], self.media].concat()
    }
}

/// The user's message that carries what `tool` messages do not take.
pub(super) fn media_message(parts: &[String]) -> String {
    Fields::new().raw("role", r#""user""#).raw("content", &array(parts)).json()
}

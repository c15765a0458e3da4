//! Chunks of a stream, as JSON.

use std::borrow::Cow;

use super::text_queue::Piece;
use crate::dialect::chat::fields::array;
use crate::json::{Object, quote};
use crate::stream::Event;

/// The fields that all chunks of a stream share, with the part of a chunk before its `delta`, and
/// the part after its choices.
#[derive(Debug, Default)]
pub(super) struct ChunkHead {
    fields: String,
    before_delta: String,
    ending: &'static str,
}

/// A text field of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextField {
    Content,
    Refusal,
    Reasoning,
}

/// The delta of a chunk.
#[derive(Debug)]
pub(super) enum Delta<'a> {
    /// The beginning of the message.
    Role,
    Text(TextField, &'a Piece<'a>),
    /// The beginning or a fragment of a call: a raw object.
    Call(&'a str),
    /// Raw citations.
    Annotations(&'a [String]),
    /// Raw entries of `reasoning_details`.
    Details(&'a [String]),
}

impl ChunkHead {
    /// The head for this response. With `includes_usage`, every chunk has a `usage`.
    pub(super) fn from_response(response: &Object<'_>, includes_usage: bool) -> Self {
        let fields = completion_fields(response, "chat.completion.chunk");
        let before_delta = format!(r#"{{{fields},"choices":[{{"index":0,"delta":"#);
        let ending = if includes_usage { r#"],"usage":null}"# } else { "]}" };
        Self { fields, before_delta, ending }
    }

    /// A chunk with this delta.
    pub(super) fn chunk(&self, delta: &Delta<'_>) -> Event {
        match delta {
            Delta::Role => self.delta(r#"{"role":"assistant","content":""}"#, ""),
            Delta::Text(field, piece) => self.text(*field, piece),
            Delta::Call(raw) => self.delta(raw, ""),
            Delta::Annotations(list) => {
                self.delta(&format!(r#"{{"annotations":{}}}"#, array(*list)), "")
            }
            Delta::Details(list) => {
                self.delta(&format!(r#"{{"reasoning_details":{}}}"#, array(*list)), "")
            }
        }
    }

    /// The chunk with the `finish_reason`.
    pub(super) fn last_chunk(&self, reason: &str, service_tier: Option<&str>) -> String {
        let choice =
            format!(r#"{{"index":0,"delta":{{}},"logprobs":null,"finish_reason":"{reason}"}}"#);
        let tier = service_tier.map(|tier| format!(r#""service_tier":{tier},"#));
        let Self { fields, ending, .. } = self;
        format!(r#"{{{fields},{}"choices":[{choice}{ending}"#, tier.unwrap_or_default())
    }

    /// The chunk with the usage, which follows the `finish_reason`.
    pub(super) fn usage_chunk(&self, usage: &str) -> String {
        format!(r#"{{{},"choices":[],"usage":{usage}}}"#, self.fields)
    }

    fn text(&self, field: TextField, piece: &Piece<'_>) -> Event {
        let field = match field {
            TextField::Content => r#"{"content":"#,
            TextField::Refusal => r#"{"refusal":"#,
            TextField::Reasoning => r#"{"reasoning_content":"#,
        };
        let delta = [field, &piece.text, "}"].concat();
        self.delta(&delta, &piece.logprobs)
    }

    /// Builds the chunk in one allocation, because it is written for every delta.
    fn delta(&self, delta: &str, logprobs: &str) -> Event {
        let after_delta = r#","logprobs":"#;
        let end = r#","finish_reason":null}"#;
        let (open, close) = if logprobs.is_empty() {
            ("null", "")
        } else {
            (r#"{"content":["#, r#"],"refusal":null}"#)
        };
        let head = &*self.before_delta;
        event([head, delta, after_delta, open, logprobs, close, end, self.ending].concat())
    }
}

/// The event with this chunk. Chunks have no type.
pub(super) fn event(data: String) -> Event {
    Event { kind: Cow::Borrowed(""), data: data.into() }
}

/// The raw fields `id`, `object`, `created` and `model` of a completion or a chunk.
pub(super) fn completion_fields(response: &Object<'_>, object: &str) -> String {
    let id = response.string("id").unwrap_or_default();
    let id = quote(&format!("chatcmpl-{}", id.strip_prefix("resp_").unwrap_or(&id)));
    let created = response.present("created_at").unwrap_or("0");
    let created = created.split('.').next().unwrap_or("0");
    let model = response.present("model").unwrap_or(r#""""#);
    format!(r#""id":{id},"object":"{object}","created":{created},"model":{model}"#)
}

//! A stored response of a server.

use bytes::Bytes;

use super::UnexpectedAnswer;
use crate::item::{Item, parse_items};
use crate::json::{Object, quote};

/// A stored response, as its server returns it.
#[derive(Clone, Debug)]
pub struct StoredResponse {
    /// The whole object.
    pub body: Bytes,
    /// `completed`, `in_progress` and so on.
    pub status: String,
    /// The response that it continues.
    pub previous: Option<String>,
    /// The conversation that it belongs to.
    pub conversation: Option<String>,
    /// The output items. Their bytes are slices of the body.
    pub output: Vec<Item>,
}

impl StoredResponse {
    /// Reads the answer to `GET /responses/{id}`.
    pub fn parse(body: Bytes) -> Result<Self, UnexpectedAnswer> {
        let garbled = |what: &str| UnexpectedAnswer::as_is(format!("a response without {what}"));
        let fields = Object::parse(&body).map_err(|error| garbled(&format!("fields: {error}")))?;
        let status = fields.string("status").ok_or_else(|| garbled("a 'status'"))?.into_owned();
        let output = fields.get("output").ok_or_else(|| garbled("an 'output'"))?;
        let output = parse_items(&body.slice_ref(output.as_bytes()))
            .map_err(|error| garbled(&format!("items in its 'output': {error}")))?;
        let previous = fields.string("previous_response_id").map(String::from);
        let conversation = fields.object("conversation");
        let conversation = conversation.and_then(|it| it.string("id").map(String::from));
        Ok(Self { body, status, previous, conversation, output })
    }

    /// Whether the response is still being produced.
    pub fn is_underway(&self) -> bool {
        matches!(self.status.as_str(), "queued" | "in_progress")
    }
}

/// Outlines of outputs for the calls in a response's `output`. If the server continued from that
/// response and lists no input for the next one, it has outputs for these calls, but does not show
/// their content.
pub fn implied_outputs(output: &[Item]) -> Vec<Item> {
    let answer = |item: &Item| {
        let (kind, call_id) = (item.head().kind.output()?, item.head().call_id.as_ref()?);
        let (kind, call_id) = (quote(kind.as_str()), quote(call_id.as_str()));
        Item::parse(format!(r#"{{"type":{kind},"call_id":{call_id}}}"#).into()).ok()
    };
    output.iter().filter_map(answer).collect()
}

//! A response as a server keeps it.

use bytes::Bytes;

use super::Garbled;
use crate::item::{Item, items_of};
use crate::json::Object;

/// A response as its server keeps it.
#[derive(Clone, Debug)]
pub struct KeptResponse {
    /// The whole object.
    pub body: Bytes,
    /// `completed`, `in_progress` and so on.
    pub status: String,
    /// The response that it goes on from.
    pub previous: Option<String>,
    /// The conversation that it was made in.
    pub conversation: Option<String>,
    /// What the model made. Their bytes are slices of the body.
    pub output: Vec<Item>,
}

impl KeptResponse {
    /// Reads what a server answers to `GET /responses/{id}`.
    pub fn read(body: Bytes) -> Result<Self, Garbled> {
        let garbled = |what: &str| Garbled::as_is(format!("a response without {what}"));
        let fields = Object::parse(&body).map_err(|error| garbled(&format!("fields: {error}")))?;
        let status = fields.string("status").ok_or_else(|| garbled("a 'status'"))?.into_owned();
        let output = fields.get("output").ok_or_else(|| garbled("an 'output'"))?;
        let output = items_of(&body.slice_ref(output.as_bytes()))
            .map_err(|error| garbled(&format!("items in its 'output': {error}")))?;
        let previous = fields.string("previous_response_id").map(String::from);
        let conversation = fields.object("conversation");
        let conversation = conversation.and_then(|it| it.string("id").map(String::from));
        Ok(Self { body, status, previous, conversation, output })
    }

    /// Whether there is more to come.
    pub fn is_underway(&self) -> bool {
        matches!(self.status.as_str(), "queued" | "in_progress")
    }
}

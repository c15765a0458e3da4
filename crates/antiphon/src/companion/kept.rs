//! A response as a server keeps it.

use bytes::Bytes;

use super::listing::NoList;
use crate::item::{Item, items_of};
use crate::json::Object;

/// What a chain's history is made of.
#[derive(Clone, Debug)]
pub(super) struct KeptResponse {
    /// `completed`, `in_progress` and so on.
    status: String,
    /// The response that it goes on from.
    pub(super) previous: Option<String>,
    /// What the model made.
    pub(super) output: Vec<Item>,
}

impl KeptResponse {
    pub(super) fn read(body: &Bytes) -> Result<Self, NoList> {
        let fields = Object::parse(body).map_err(|_| NoList)?;
        let status = fields.string("status").ok_or(NoList)?.into_owned();
        let output = fields.get("output").ok_or(NoList)?;
        let output = items_of(&body.slice_ref(output.as_bytes())).map_err(|_| NoList)?;
        let previous = fields.string("previous_response_id").map(String::from);
        Ok(Self { status, previous, output })
    }

    /// Whether there is more to come.
    pub(super) fn is_underway(&self) -> bool {
        matches!(self.status.as_str(), "queued" | "in_progress")
    }
}

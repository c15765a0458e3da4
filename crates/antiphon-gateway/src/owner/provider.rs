//! What an upstream says of what it keeps.

use antiphon::Item;
use bytes::Bytes;
use tokio::time::Instant;

use crate::bound::from_now;
use crate::caller::Caller;
use crate::upstream::{HttpUpstream, UpstreamError};

/// An upstream that keeps state, asked on behalf of one caller.
///
/// What it answers is bounded: in bytes as every answer of it is, in pages, and in time by one end for
/// all requests. A status other than 200 is an error, also where it says that there is nothing.
pub(crate) struct Provider<'a> {
    http: &'a HttpUpstream,
    caller: &'a Caller,
    end: Instant,
}

/// A response as its upstream keeps it.
pub(crate) struct KeptResponse {
    /// The whole object.
    pub(crate) body: Bytes,
    /// `completed`, `in_progress` and so on.
    pub(crate) status: String,
    /// The response that it goes on from.
    pub(crate) previous: Option<String>,
    /// The conversation that it was made in.
    pub(crate) conversation: Option<String>,
    /// What the model made.
    pub(crate) output: Vec<Item>,
}

impl<'a> Provider<'a> {
    /// This upstream, for this caller.
    pub(crate) fn new(http: &'a HttpUpstream, caller: &'a Caller) -> Self {
        Self { http, caller, end: from_now(http.patience().1) }
    }

    /// All items of a conversation, the oldest first.
    pub(crate) async fn conversation_items(&self, id: &str) -> Result<Vec<Item>, UpstreamError> {
        let _ = (self.http, self.caller, self.end, id);
        Err(UpstreamError::BrokeOff)
    }

    /// A response.
    pub(crate) async fn response(&self, id: &str) -> Result<KeptResponse, UpstreamError> {
        let _ = id;
        Err(UpstreamError::BrokeOff)
    }

    /// The input of a response, the oldest item first. Of a chain some servers list what came before
    /// too, and some do not.
    pub(crate) async fn input_items(&self, id: &str) -> Result<Vec<Item>, UpstreamError> {
        let _ = id;
        Err(UpstreamError::BrokeOff)
    }

    /// Deletes an item of a conversation. One that is not there is as good as deleted.
    pub(crate) async fn delete_item(
        &self,
        conversation: &str,
        item: &str,
    ) -> Result<(), UpstreamError> {
        let _ = (conversation, item);
        Err(UpstreamError::BrokeOff)
    }
}

//! The items of a planned request.

use bytes::Bytes;

use super::{BlockingItems, Known, Report};
use crate::item::Item;
use crate::json::Object;
use crate::provider_api::Detour;
use crate::reconcile::StoredInput;
use crate::transcript::{HeldItem, Transcript};

/// The items to send, and the items that the server will then have.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The server's items, followed by the new items of the input.
    pub transcript: Transcript,
    /// The number of the server's items at the start of `transcript`.
    pub held: usize,
    /// The items of the request.
    pub sent: Vec<Item>,
    /// The sent items in their stored form.
    pub fresh: Vec<HeldItem>,
    /// Whether the server will have items after this turn that are unknown here.
    pub names_unknown: bool,
    /// The point in the server's state that the request continues.
    pub continue_from: ContinueFrom,
    /// The changes to the request.
    pub report: Report,
    /// The stored items to delete or avoid before.
    pub(super) blocking: BlockingItems,
    /// The input that an earlier attempt at the request stored.
    pub(super) stored: StoredInput,
}

/// The point in a server's state that a request continues.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ContinueFrom {
    /// The response or conversation of the caller's request.
    #[default]
    AsRequested,
    /// An earlier point: the request contains all items after it.
    Earlier(EarlierPoint),
    /// The items around those that block the previous response.
    Detour(Detour),
}

/// A point before the previous response, from which the record has the full content.
#[derive(Clone, Debug, PartialEq)]
pub struct EarlierPoint {
    /// The response that ends there. `None` at the start of the chain.
    pub previous: Option<String>,
    /// The number of known items before it.
    pub kept: usize,
}

/// The parts of a request in which plans of the same turn differ.
pub(super) type PlannedRequest = (ContinueFrom, Vec<Bytes>);

impl ContinueFrom {
    /// Sets the previous response in the fields of a request.
    pub fn write(&self, fields: &mut Object<'_>) {
        let previous = match self {
            Self::AsRequested => return,
            Self::Earlier(point) => point.previous.as_deref(),
            Self::Detour(detour) => detour.previous.as_deref(),
        };
        match previous {
            Some(id) => fields.set_string("previous_response_id", id),
            None => fields.remove("previous_response_id"),
        }
    }
}

impl Plan {
    /// The server's items.
    pub fn known(&self) -> &[HeldItem] {
        &self.transcript.items()[..self.held]
    }

    /// The parts in which plans of the same turn differ.
    pub(super) fn request(&self) -> PlannedRequest {
        (self.continue_from.clone(), self.sent.iter().map(|item| item.raw().clone()).collect())
    }

    /// Whether no item is left to send, although the server does not have all items of the input.
    pub(super) fn is_emptied(&self, input: &[Item]) -> bool {
        self.sent.is_empty() && self.report.resent < input.len()
    }

    /// The items that it was planned after, and the blocking ones among them.
    pub(super) fn into_known(self) -> (Known, BlockingItems) {
        let items = self.known().iter().cloned().collect();
        (Known { items, stored: self.stored, earlier: None }, self.blocking)
    }
}

//! Deletes stored items that block a turn.

use std::collections::{HashSet, VecDeque};

use bytes::Bytes;

use super::history::History;
use super::planning::Plan;
use super::{BlockingItems, Method, Step};
use crate::item::ItemId;
use crate::provider_api::{Segment, ServerError};

/// The items that are deleted before a turn, one after the other.
///
/// It stops at the first item that the server does not delete. A late output is then sent as a
/// message; for the other items the server's own error ends the turn. If a failure happens between
/// a deletion and the turn, the next turn finds the call without an output and adds one.
#[derive(Debug)]
pub(super) struct Deletion {
    conversation: String,
    queue: VecDeque<ItemId>,
    pub(super) deleted: HashSet<ItemId>,
    /// The known items before the deletions.
    pub(super) history: History,
    /// The plan without any deletion.
    pub(super) plan: Plan,
}

impl Deletion {
    /// Whether the ids of all these items are known and valid.
    pub(super) fn is_possible(items: &BlockingItems) -> bool {
        items.have_server_ids() && items.ids().all(|id| Segment::parse(id.as_str()).is_some())
    }

    /// Deletes the items that block this plan. The id of the conversation has to be valid.
    pub(super) fn new(conversation: &str, history: History, plan: Plan) -> Self {
        let (queue, deleted) = (plan.blocking.ids().cloned().collect(), HashSet::new());
        Self { conversation: conversation.to_owned(), queue, deleted, history, plan }
    }

    /// The next request; `None` at the end.
    pub(super) fn step(&self) -> Option<Step> {
        let item = Segment::parse(self.queue.front()?.as_str()).expect("it was checked");
        let conversation = Segment::parse(&self.conversation).expect("it was checked");
        let path = format!("/conversations/{conversation}/items/{item}");
        Some(Step::Ask { method: Method::Delete, path, body: None })
    }

    /// Takes the server's answer. A missing item counts as deleted. If the server does not know the
    /// path, nothing was deleted.
    pub(super) fn take(&mut self, status: u16, body: &Bytes) {
        let Some(item) = self.queue.pop_front() else { return };
        let is_gone = match status {
            200..=299 => true,
            404 => ServerError::parse(body).is_missing("item", item.as_str()),
            _ => false,
        };
        match is_gone {
            true => _ = self.deleted.insert(item),
            false => self.queue.clear(),
        }
    }
}

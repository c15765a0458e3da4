//! Deletes stored items that block a turn.

use std::collections::{HashSet, VecDeque};

use bytes::Bytes;

use super::BlockingItems;
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
}

impl Deletion {
    /// Whether the ids of all these items are known and valid.
    pub(super) fn is_possible(items: &BlockingItems) -> bool {
        items.have_server_ids() && items.ids().all(|id| Segment::parse(id.as_str()).is_some())
    }

    /// Deletes these items, of which there is one at least. The id of the conversation has to be
    /// valid.
    pub(super) fn new(conversation: &str, items: &BlockingItems) -> Self {
        let (queue, deleted) = (items.ids().cloned().collect(), HashSet::new());
        Self { conversation: conversation.to_owned(), queue, deleted }
    }

    /// Whether no item is left to delete.
    pub(super) fn is_over(&self) -> bool {
        self.queue.is_empty()
    }

    /// The next item.
    pub(super) fn item(&self) -> &ItemId {
        self.queue.front().expect("an item is left")
    }

    /// The path of the next `DELETE`.
    pub(super) fn path(&self) -> String {
        let segment = |id| Segment::parse(id).expect("it was checked");
        let (conversation, item) = (segment(&self.conversation), segment(self.item().as_str()));
        format!("/conversations/{conversation}/items/{item}")
    }

    /// Takes the server's answer. Returns the item if it is deleted. A missing item counts as
    /// deleted. If the server does not know the path, nothing was deleted.
    pub(super) fn take(&mut self, status: u16, body: &Bytes) -> Option<ItemId> {
        let item = self.queue.pop_front()?;
        let is_gone = match status {
            200..=299 => true,
            404 => ServerError::parse(body).is_missing("item", item.as_str()),
            _ => false,
        };
        match is_gone {
            true => _ = self.deleted.insert(item.clone()),
            false => self.queue.clear(),
        }
        is_gone.then_some(item)
    }
}

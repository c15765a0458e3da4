//! Deletes stored items that block a turn.

use std::collections::{HashSet, VecDeque};

use bytes::Bytes;

use super::history::History;
use super::planning::Plan;
use super::said::Said;
use super::{Method, Step};
use crate::item::ItemId;
use crate::provider_api::Segment;

/// The items that are deleted before a turn, one after the other.
///
/// It stops at the first item that the server does not delete. A late output is then sent as a
/// message; for the other items the server's own error ends the turn. If a failure happens between
/// a deletion and the turn, the next turn finds the call without an output and adds one.
#[derive(Debug)]
pub(super) struct Deleting {
    conversation: String,
    queue: VecDeque<ItemId>,
    pub(super) deleted: HashSet<ItemId>,
    /// The known items before the deletions.
    pub(super) history: History,
    /// The plan without any deletion.
    pub(super) plan: Plan,
}

impl Deleting {
    /// Whether the ids of all items that block this plan are known and valid.
    pub(super) fn is_possible(plan: &Plan) -> bool {
        let is_named = |id: ItemId| Segment::parse(id.as_str()).is_some();
        plan.stuck.is_named() && plan.stuck.ids().all(is_named)
    }

    /// Deletes the items that block this plan. The id of the conversation has to be valid.
    pub(super) fn of(conversation: &str, history: History, plan: Plan) -> Self {
        let (queue, deleted) = (plan.stuck.ids().collect(), HashSet::new());
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
    pub(super) fn answered(&mut self, status: u16, body: &Bytes) {
        let Some(item) = self.queue.pop_front() else { return };
        let is_gone = match status {
            200..=299 => true,
            404 => Said::in_body(body).tells_of_no("item", item.as_str()),
            _ => false,
        };
        match is_gone {
            true => _ = self.deleted.insert(item),
            false => self.queue.clear(),
        }
    }
}

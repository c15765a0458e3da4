//! Deleting what is in the way of a turn.

use std::collections::{HashSet, VecDeque};

use bytes::Bytes;

use super::history::History;
use super::planning::Plan;
use super::said::Said;
use super::{Method, Step};
use crate::item::ItemId;
use crate::kept::Segment;

/// The items that are deleted for a turn, one after the other. It ends with the first that the server
/// keeps: a late output is told in a message then, and for the rest the server has its own words.
///
/// Whatever comes between a deletion and the turn, the next turn finds the call unanswered, and answers it.
#[derive(Debug)]
pub(super) struct Deleting {
    conversation: String,
    queue: VecDeque<ItemId>,
    pub(super) deleted: HashSet<ItemId>,
    /// What was known before.
    pub(super) history: History,
    /// What would be sent if nothing were deleted.
    pub(super) plan: Plan,
}

impl Deleting {
    /// Whether what is in the way of this plan can be named.
    pub(super) fn is_possible(plan: &Plan) -> bool {
        let is_named = |id: ItemId| Segment::of(id.as_str()).is_some();
        plan.stuck.is_named() && plan.stuck.ids().all(is_named)
    }

    /// Of what is in the way of this plan, in a conversation whose id is one.
    pub(super) fn of(conversation: &str, history: History, plan: Plan) -> Self {
        let (queue, deleted) = (plan.stuck.ids().collect(), HashSet::new());
        Self { conversation: conversation.to_owned(), queue, deleted, history, plan }
    }

    /// What to ask next; `None` once it is over.
    pub(super) fn step(&self) -> Option<Step> {
        let item = Segment::of(self.queue.front()?.as_str()).expect("it was checked");
        let conversation = Segment::of(&self.conversation).expect("it was checked");
        let path = format!("/conversations/{conversation}/items/{item}");
        Some(Step::Ask { method: Method::Delete, path, body: None })
    }

    /// What the server says. An item that is not there is as good as deleted; a server that has no such
    /// path has deleted nothing.
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

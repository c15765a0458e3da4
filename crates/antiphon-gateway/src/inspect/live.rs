//! The present state of a conversation: its open turn, its queue and its lease.

use antiphon_store::ResponseId;

use super::forest::{Forest, Group};
use super::model::Live;

/// The state as far as the store knows it: for turns of all processes. The store has a queue only
/// if processes share it.
pub(super) fn from_store(forest: &Forest, group: &Group) -> Live {
    let open = forest.open_turn(group);
    let places = match group {
        Group::Conversation(id) => {
            let queue = forest.tree.queued.iter().find(|(queued, _)| queued == id);
            queue.map_or(0, |(_, places)| *places)
        }
        Group::Chain(_) => 0,
    };
    let response = open.map(|turn| turn.response.to_string());
    let is_job = |id: &str| forest.tree.jobs.iter().any(|job| job.as_str() == id);
    Live {
        leased: open.is_some() || places > 0,
        queued: places.saturating_sub(1),
        background: response.as_deref().is_some_and(is_job),
        response,
    }
}

impl Live {
    /// Adds the turns of this process: whether one is open, its response, and the number of turns
    /// that wait for it.
    pub(super) fn with_local(
        self,
        is_open: bool,
        response: Option<ResponseId>,
        waiting: usize,
    ) -> Self {
        Self {
            leased: self.leased || is_open,
            queued: self.queued.max(waiting),
            response: self.response.or_else(|| response.map(|id| id.to_string())),
            ..self
        }
    }
}

//! Marks the items of a request as sent.

use std::collections::HashMap;

use super::{AmbiguousRebuild, Attempt, Occurrence, Plan, Tracker};
use crate::item::Item;

/// The reason why a request must not be sent. Nothing was marked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The current plan does not have the occurrence: the server has it, it is in flight, or it was
    /// never added.
    #[error("occurrence {} is not in the current plan", .0.number())]
    NotPlanned(Occurrence),
    /// The request has the occurrence twice.
    #[error("the request has occurrence {} twice", .0.number())]
    Twice(Occurrence),
    /// A filter rebuilt an item, and its source is ambiguous.
    #[error(transparent)]
    AmbiguousRebuild(#[from] AmbiguousRebuild),
}

/// An item of a request without a response so far.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SentItem {
    /// Its occurrence; `None` if a filter added it.
    pub(super) source: Option<Occurrence>,
    /// The item as sent.
    pub(super) item: Item,
}

impl Tracker {
    /// Marks the items of the next request as sent. Call it right before the request. An empty
    /// request also needs [`accept`](Self::accept) or [`rewind`](Self::rewind) later.
    pub fn send(&mut self, occurrences: &[Occurrence]) -> Result<Attempt, SendError> {
        let plan = self.plan();
        let mut planned = by_occurrence(&plan);
        let mut going = Vec::with_capacity(occurrences.len());
        for source in occurrences {
            let item = planned.remove(source).ok_or_else(|| {
                let is_planned = plan.contains(*source);
                if is_planned { SendError::Twice(*source) } else { SendError::NotPlanned(*source) }
            })?;
            going.push(SentItem { source: Some(*source), item: item.clone() });
        }
        Ok(self.open_attempt(going))
    }

    /// Opens an attempt with these items.
    pub(super) fn open_attempt(&mut self, going: Vec<SentItem>) -> Attempt {
        let attempt = Attempt(self.attempts);
        self.attempts += 1;
        for source in going.iter().filter_map(|going| going.source) {
            self.entry_mut(source).expect("it was planned").send(attempt);
        }
        self.in_flight.insert(attempt, going);
        attempt
    }
}

/// The items of a plan by their occurrence.
pub(super) fn by_occurrence(plan: &Plan) -> HashMap<Occurrence, &Item> {
    plan.items.iter().map(|planned| (planned.occurrence, &planned.item)).collect()
}

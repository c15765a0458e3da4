//! Marks what goes out.

use std::collections::HashMap;

use super::{AmbiguousRebuild, Attempt, Occurrence, Plan, Tracker};
use crate::item::Item;

/// Why a request may not go as it is. Nothing was marked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The tracker would not put the occurrence in a request now: the server has it, it is in
    /// flight, or it was never added.
    #[error("occurrence {} is not to be sent now", .0.number())]
    NotPlanned(Occurrence),
    /// The occurrence stands in the request twice.
    #[error("occurrence {} is in the request twice", .0.number())]
    Twice(Occurrence),
    /// A filter rebuilt an item so that its origin cannot be told.
    #[error(transparent)]
    AmbiguousRebuild(#[from] AmbiguousRebuild),
}

/// An item of a request that nobody has answered yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Going {
    /// Where it comes from; `None` where a filter added it.
    pub(super) source: Option<Occurrence>,
    /// As it went.
    pub(super) item: Item,
}

impl Tracker {
    /// Marks what the next request contains, right before it goes. An empty request is one too:
    /// [`accept`](Self::accept) and [`rewind`](Self::rewind) apply to it all the same.
    pub fn send(&mut self, occurrences: &[Occurrence]) -> Result<Attempt, SendError> {
        let plan = self.plan();
        let mut planned = by_occurrence(&plan);
        let mut going = Vec::with_capacity(occurrences.len());
        for source in occurrences {
            let item = planned.remove(source).ok_or_else(|| {
                let is_planned = plan.contains(*source);
                if is_planned { SendError::Twice(*source) } else { SendError::NotPlanned(*source) }
            })?;
            going.push(Going { source: Some(*source), item: item.clone() });
        }
        Ok(self.mark(going))
    }

    /// Opens an attempt with what goes.
    pub(super) fn mark(&mut self, going: Vec<Going>) -> Attempt {
        let attempt = Attempt(self.attempts);
        self.attempts += 1;
        for source in going.iter().filter_map(|going| going.source) {
            self.entry_mut(source).expect("it was planned").send(attempt);
        }
        self.in_flight.insert(attempt, going);
        attempt
    }
}

/// The items of a plan by where they come from.
pub(super) fn by_occurrence(plan: &Plan) -> HashMap<Occurrence, &Item> {
    plan.items.iter().map(|planned| (planned.occurrence, &planned.item)).collect()
}

//! An attempt to send items: its start, and its end as accepted or rewound.

use std::collections::HashMap;

use super::entry::Entry;
use super::{
    AmbiguousRebuild, Attempt, EqualItems, Occurrence, OccurrenceState, Plan, ResponseId, Tracker,
};
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

/// The attempt has already ended, or never started. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("attempt {} is not in flight", .0.number())]
pub struct NotInFlight(pub Attempt);

impl Tracker {
    /// The request failed: its items are pending again, except those that the server turned out to
    /// have. Returns the rewound items, in order.
    pub fn rewind(&mut self, attempt: Attempt) -> Result<Vec<Occurrence>, NotInFlight> {
        self.in_flight.remove(&attempt).ok_or(NotInFlight(attempt))?;
        let rewound = self
            .entries_mut()
            .filter_map(|(occurrence, entry)| entry.rewind(attempt).then_some(occurrence));
        Ok(rewound.collect())
    }

    /// The response arrived: the server has the items of the request, and `output`.
    ///
    /// Call it as soon as the response arrives, before hooks or tools run: then they cannot cause
    /// an accepted item to be sent again. Pending initial input that the response echoes is
    /// accepted too. A chain advances if the response has an id.
    pub fn accept(
        &mut self,
        attempt: Attempt,
        response_id: Option<&ResponseId>,
        output: &[Item],
    ) -> Result<(), NotInFlight> {
        let sent = self.in_flight.remove(&attempt).ok_or(NotInFlight(attempt))?;
        self.accept_echoes(output);
        let of_attempt = |entry: &&mut Entry| entry.state() == OccurrenceState::Sent(attempt);
        self.entries.iter_mut().filter(of_attempt).for_each(|entry| *entry = Entry::Accepted);
        let items = sent.iter().map(|going| &going.item).chain(output);
        self.known.observe(items, self.reasoning_ids);
        self.continuation.advance(response_id);
        self.turns += 1;
        Ok(())
    }

    /// Each output item accepts one pending item: an item that was added twice needs two echoes.
    fn accept_echoes(&mut self, output: &[Item]) {
        let lookalikes = EqualItems::new(output.iter().enumerate());
        let mut is_spent = vec![false; output.len()];
        for entry in &mut self.entries {
            let Some(initial) = entry.pending().filter(|queued| queued.is_initial) else {
                continue;
            };
            let mut echoes = lookalikes.equal_to(&initial.item).into_iter();
            if let Some(echo) = echoes.find(|position| !is_spent[*position]) {
                is_spent[echo] = true;
                *entry = Entry::Accepted;
            }
        }
    }
}

//! The end of an attempt.

use super::entry::Entry;
use super::{Attempt, EqualItems, Occurrence, OccurrenceState, ResponseId, Tracker};
use crate::item::Item;

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
        let of_attempt = |entry: &&mut Entry| entry.standing() == OccurrenceState::Sent(attempt);
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

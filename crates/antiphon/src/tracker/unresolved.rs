//! What a break left open, told by the server's own list.

use std::collections::HashMap;

use super::entry::Entry;
use super::known::Known;
use super::{Attempt, Occurrence, ReasoningIds, Tracker};
use crate::item::{CallKey, Item, ItemId, Side};

/// What stands between the run and its next request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unresolved {
    /// Calls that the server has, for which there is an output neither there nor here. It refuses
    /// every request until they are answered.
    pub calls: Vec<Unanswered>,
    /// Outputs that are pending for calls that the server is not known to have: it refuses them if
    /// it does not. After [`hydrate`](Tracker::hydrate) that is certain, and plans leave them out.
    pub outputs: Vec<Occurrence>,
    /// Requests that nobody answered. Only who knows how they ended can accept or rewind them.
    pub attempts: Vec<Attempt>,
}

/// A call that waits for its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unanswered {
    /// The call's item id.
    pub id: Option<ItemId>,
    /// By what its output will find it.
    pub key: CallKey,
}

impl Tracker {
    /// Takes `held` for all that the server has: its own list of items, in its order.
    ///
    /// To be called before the first request of a conversation that has gone on elsewhere, and
    /// after every break: whether a call that was announced has entered the conversation, only the
    /// server knows. What is in flight and certainly there is accepted, and returned; the rest
    /// stays in flight until its attempt is rewound or accepted.
    pub fn hydrate(&mut self, held: &[Item]) -> Vec<Occurrence> {
        let mut known = Known::whole(held, self.reasoning_ids);
        known.note_reasoning(self.known.reasoning());
        let policy = self.reasoning_ids;
        let mut arrivals =
            Arrivals { before: &self.known, now: &known, looked_for: HashMap::new() };
        let mut accepted = Vec::new();
        for request in self.in_flight.values_mut() {
            let arrived = request.extract_if(.., |going| arrivals.include(&going.item, policy));
            accepted.extend(arrived.filter_map(|going| going.source));
        }
        accepted.sort_unstable();
        self.known = known;
        for occurrence in &accepted {
            *self.entry_mut(*occurrence).expect("it was sent") = Entry::Accepted;
        }
        accepted
    }

    /// What the next request would fail on, or nobody can know.
    pub fn unresolved(&self) -> Unresolved {
        let mut outputs = self.waiting_outputs();
        let mut calls = Vec::new();
        for head in self.known.unanswered() {
            let Some((_, key)) = head.pairing() else { continue };
            match outputs.get_mut(&key) {
                Some(waiting @ 1..) => *waiting -= 1,
                _ => calls.push(Unanswered { id: head.id.clone(), key }),
            }
        }
        let attempts = self.in_flight.keys().copied().collect();
        Unresolved { calls, outputs: self.uncertain_outputs(), attempts }
    }

    /// How many outputs of each key the server does not have yet.
    fn waiting_outputs(&self) -> HashMap<CallKey, usize> {
        let mut waiting = HashMap::new();
        for queued in self.entries.iter().filter_map(Entry::queued) {
            if let Some((Side::Output, key)) = queued.item.head().pairing() {
                *waiting.entry(key).or_default() += 1;
            }
        }
        waiting
    }

    /// Pending outputs whose calls are neither there nor on their way.
    fn uncertain_outputs(&self) -> Vec<Occurrence> {
        let is_known = |key: &CallKey| self.known.exchange(key).is_some() || self.brings(key);
        let pending = self.entries().filter_map(|(at, entry)| Some((at, entry.pending()?)));
        let uncertain = pending.filter(|(_, queued)| match queued.item.head().pairing() {
            Some((Side::Output, key)) => !is_known(&key),
            _ => false,
        });
        uncertain.map(|(occurrence, _)| occurrence).collect()
    }

    /// Whether a call of this key is pending or in flight itself.
    fn brings(&self, key: &CallKey) -> bool {
        let asks = |item: &Item| matches!(item.head().pairing(), Some((Side::Call, asked)) if asked == *key);
        let queued = self.entries.iter().filter_map(Entry::queued).map(|queued| &queued.item);
        let going = self.in_flight.values().flatten().map(|going| &going.item);
        queued.chain(going).any(asks)
    }
}

/// What of the requests in flight the server's list shows.
struct Arrivals<'a> {
    before: &'a Known,
    now: &'a Known,
    /// How many outputs of each key were looked for.
    looked_for: HashMap<CallKey, usize>,
}

impl Arrivals<'_> {
    /// Whether the server certainly has the item. For an output it is the very call that it was
    /// sent for that has to be answered: another one may go by the same `call_id`.
    fn include(&mut self, item: &Item, policy: ReasoningIds) -> bool {
        let Some((Side::Output, key)) = item.head().pairing() else {
            return self.now.has(item, policy);
        };
        let nth = self.looked_for.entry(key.clone()).or_default();
        let call = self.before.waiting(&key).nth(*nth);
        *nth += 1;
        let is_answered = call.and_then(|call| self.now.is_answered(&key, call.id.as_ref()?));
        is_answered.unwrap_or_else(|| self.now.has(item, policy))
    }
}

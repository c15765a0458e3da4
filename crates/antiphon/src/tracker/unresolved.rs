//! Resolves an interruption with the server's own list of items.

use std::collections::HashMap;

use super::attempt::SentItem;
use super::entry::Entry;
use super::identity::are_equal;
use super::known::Known;
use super::{Attempt, Occurrence, ReasoningIds, Tracker};
use crate::item::{CallKey, Item, ItemId, Side};

/// The obstacles to the next request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unresolved {
    /// Calls of the server for which neither side has an output. The server rejects every request
    /// until they are answered.
    pub calls: Vec<UnansweredCall>,
    /// Pending outputs for calls that the server is not known to have: if it does not have them, it
    /// rejects the outputs. After [`hydrate`](Tracker::hydrate) this is certain, and plans omit the
    /// outputs.
    pub outputs: Vec<Occurrence>,
    /// Requests without a response. Accept or rewind them once their result is known.
    pub attempts: Vec<Attempt>,
}

/// A call that waits for its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnansweredCall {
    /// The call's item id.
    pub id: Option<ItemId>,
    /// The key that its output must have.
    pub key: CallKey,
}

impl Tracker {
    /// Replaces the known items of the server by `held`: its own list, in its order.
    ///
    /// Call it before the first request of a conversation that was continued elsewhere, and after
    /// every interruption: only the server knows whether an announced call is in the conversation.
    /// Items in flight that the server certainly has are accepted and returned; the others stay in
    /// flight until their attempt is rewound or accepted.
    pub fn hydrate(&mut self, held: &[Item]) -> Vec<Occurrence> {
        let mut known = Known::whole(held, self.reasoning_ids);
        known.note_reasoning(self.known.reasoning());
        let policy = self.reasoning_ids;
        let mut arrivals =
            Arrivals { before: &self.known, now: &known, looked_for: HashMap::new() };
        let mut accepted = Vec::new();
        for request in self.in_flight.values_mut() {
            let arrived = request.extract_if(.., |going| arrivals.has_arrived(&going.item, policy));
            accepted.extend(arrived.filter_map(|going| going.source));
        }
        accepted.sort_unstable();
        self.known = known;
        for occurrence in &accepted {
            *self.entry_mut(*occurrence).expect("it was sent") = Entry::Accepted;
        }
        accepted
    }

    /// Looks for an unanswered request in `held`, the server's own list of its items, before
    /// [`hydrate`](Self::hydrate) replaces the known ones. Returns the items after those of the
    /// request, which are the model's.
    ///
    /// The items of the request are the last ones before the model's output, and the server did
    /// not have them before: equal items of an earlier request do not count. `None` if it is not
    /// certain that they arrived.
    pub fn find_answer<'a>(&self, attempt: Attempt, held: &'a [Item]) -> Option<&'a [Item]> {
        let sent = self.in_flight.get(&attempt).filter(|sent| !sent.is_empty())?;
        let is_the_models = |item: &&Item| item.head().is_model_made();
        let end = held.len() - held.iter().rev().take_while(is_the_models).count();
        let begin = end.checked_sub(sent.len())?;
        let is_new = |item: &Item| !self.known.has_id(item.head());
        let is_sent = |(held, sent): (&Item, &SentItem)| are_equal(held, &sent.item);
        let has_arrived =
            held[begin..].iter().all(is_new) && held[begin..end].iter().zip(sent).all(is_sent);
        has_arrived.then(|| &held[end..])
    }

    /// The obstacles that would make the next request fail, or may do so.
    pub fn unresolved(&self) -> Unresolved {
        let mut outputs = self.waiting_outputs();
        let mut calls = Vec::new();
        for head in self.known.unanswered() {
            let Some((_, key)) = head.pairing() else { continue };
            match outputs.get_mut(&key) {
                Some(waiting @ 1..) => *waiting -= 1,
                _ => calls.push(UnansweredCall { id: head.id.clone(), key }),
            }
        }
        let attempts = self.in_flight.keys().copied().collect();
        Unresolved { calls, outputs: self.uncertain_outputs(), attempts }
    }

    /// Number of outputs per key that the server does not have yet.
    fn waiting_outputs(&self) -> HashMap<CallKey, usize> {
        let mut waiting = HashMap::new();
        for queued in self.entries.iter().filter_map(Entry::queued) {
            if let Some((Side::Output, key)) = queued.item.head().pairing() {
                *waiting.entry(key).or_default() += 1;
            }
        }
        waiting
    }

    /// Pending outputs whose calls the server is not known to have, and which are neither pending
    /// nor in flight themselves.
    fn uncertain_outputs(&self) -> Vec<Occurrence> {
        let is_known = |key: &CallKey| self.known.exchange(key).is_some() || self.has_call(key);
        let pending = self.entries().filter_map(|(at, entry)| Some((at, entry.pending()?)));
        let uncertain = pending.filter(|(_, queued)| match queued.item.head().pairing() {
            Some((Side::Output, key)) => !is_known(&key),
            _ => false,
        });
        uncertain.map(|(occurrence, _)| occurrence).collect()
    }

    /// Whether a call with this key is itself pending or in flight.
    fn has_call(&self, key: &CallKey) -> bool {
        let asks = |item: &Item| match item.head().pairing() {
            Some((Side::Call, asked)) => asked == *key,
            _ => false,
        };
        let queued = self.entries.iter().filter_map(Entry::queued).map(|queued| &queued.item);
        let going = self.in_flight.values().flatten().map(|going| &going.item);
        queued.chain(going).any(asks)
    }
}

/// Finds the items of requests in flight in the server's list.
struct Arrivals<'a> {
    before: &'a Known,
    now: &'a Known,
    /// Number of outputs per key that were checked so far.
    looked_for: HashMap<CallKey, usize>,
}

impl Arrivals<'_> {
    /// Whether the server certainly has the item. An output counts only if the same call that it
    /// was sent for is answered: another call may have the same `call_id`.
    fn has_arrived(&mut self, item: &Item, policy: ReasoningIds) -> bool {
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

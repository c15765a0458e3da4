//! The items of the next request.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use antiphon::Item;
use antiphon::item::{CallKey, Exchanges, PairRole, Side};
use antiphon::repair::ReportedRepair;
use antiphon::tracker::{Continuation, Occurrence, Planned};

use super::prepared::{Prepared, Source};
use super::state::Owner;
use super::{Ask, Machine};

/// The content of the next request.
pub(super) struct Request {
    items: Arc<Vec<Item>>,
    occurrences: Vec<Occurrence>,
    continuation: Option<Continuation>,
    repairs: Vec<ReportedRepair>,
}

impl Request {
    pub(super) fn into_ask(self, agent: &str, delay: Option<Duration>) -> Ask {
        let Self { items, occurrences, continuation, repairs } = self;
        Ask { agent: agent.to_owned(), items, occurrences, continuation, delay, repairs }
    }
}

impl Machine {
    /// The content of the next request: all that the model reads, or the items that a server lacks.
    pub(super) fn request(&self) -> Request {
        match &self.state.owner {
            Owner::Server { tracker, .. } => {
                let plan = tracker.plan();
                let planned = with_sorted_outputs(plan.items, &self.state.items).into_iter();
                let (occurrences, items): (_, Vec<_>) =
                    planned.map(|it| (it.occurrence, it.item)).unzip();
                Request {
                    items: Arc::new(items),
                    occurrences,
                    continuation: Some(plan.continuation),
                    repairs: Vec::new(),
                }
            }
            Owner::Replay(history) | Owner::Session { history, .. } => {
                self.whole_request(Source::new(&self.state, history))
            }
        }
    }

    fn whole_request(&self, source: Source<'_>) -> Request {
        let limit = self.roster.limits.history;
        let next = self.prepared.next_items(source).filter(|_| limit.is_none());
        let (items, repairs) = if let Some(next) = next {
            (self.prepared.items_with(next), self.prepared.repairs.clone())
        } else {
            let Prepared { items, repairs, .. } = Prepared::whole(source, limit);
            (items, repairs)
        };
        Request { items, occurrences: Vec::new(), continuation: None, repairs }
    }

    /// Keeps the items of the request that is sent now, so that the next one repeats them.
    pub(super) fn keep_prepared(&mut self) {
        let Some(history) = self.state.client_history() else { return };
        if self.roster.limits.history.is_none() {
            self.prepared.extend(Source::new(&self.state, history));
        }
    }

    /// Ends the request in flight, which failed. If it is uncertain whether the server accepted it,
    /// its items are listed before the next one. A chain needs no list: a response that nobody
    /// continues changes nothing.
    pub(super) fn rewind(&mut self, is_uncertain: bool) {
        self.awaits_answer = false;
        let Owner::Server { tracker, asking } = &mut self.state.owner else { return };
        let is_conversation = tracker.continuation().conversation_id().is_some();
        if is_uncertain && is_conversation {
            self.is_loaded = false;
        } else if let Some(attempt) = asking.take() {
            tracker.rewind(attempt).expect("it is in flight");
        }
    }
}

/// Sorts the outputs by their calls in `items`. They were added in the order in which the tools
/// ended.
fn with_sorted_outputs(mut planned: Vec<Planned>, items: &[Item]) -> Vec<Planned> {
    let output_key = |planned: &Planned| match planned.item.head().pairing() {
        Some((Side::Output, key)) => Some(key),
        _ => None,
    };
    let keys: Vec<CallKey> = planned.iter().filter_map(output_key).collect();
    if keys.len() < 2 {
        return planned;
    }
    let positions = call_positions(items, keys);
    let position = |planned: &Planned| positions.get(&output_key(planned)?).copied();
    let slots: Vec<_> = (0..planned.len()).filter(|at| position(&planned[*at]).is_some()).collect();
    let mut outputs: Vec<_> = slots.iter().map(|at| planned[*at].clone()).collect();
    outputs.sort_by_key(position);
    for (at, output) in slots.into_iter().zip(outputs) {
        planned[at] = output;
    }
    planned
}

/// The position of the last call with each of these keys. The search begins at the end, so its cost
/// does not grow with the items before the calls.
fn call_positions(items: &[Item], keys: Vec<CallKey>) -> HashMap<CallKey, usize> {
    let mut missing: HashSet<CallKey> = keys.into_iter().collect();
    let mut positions = HashMap::new();
    for (at, item) in items.iter().enumerate().rev() {
        if missing.is_empty() {
            break;
        }
        if let Some((Side::Call, key)) = item.head().pairing()
            && missing.remove(&key)
        {
            positions.insert(key, at);
        }
    }
    positions
}

/// Moves each output behind the answer that its call is in, and sorts the outputs of an answer by
/// their calls. They are stored in the order in which the tools ended.
pub(super) fn with_ordered_outputs(items: &[Item]) -> Vec<Item> {
    let mut exchanges = Exchanges::default();
    let mut outputs: BTreeMap<usize, usize> = BTreeMap::new();
    for (position, item) in items.iter().enumerate() {
        if let Some(PairRole::Output(call)) = exchanges.push(position, item.head()) {
            outputs.insert(call, position);
        }
    }
    let moved: HashSet<usize> = outputs.values().copied().collect();
    let mut ordered = Vec::with_capacity(items.len());
    for (position, item) in items.iter().enumerate() {
        if !moved.contains(&position) {
            ordered.push(item.clone());
        }
        let ends_answer = item.head().is_model_made()
            && items.get(position + 1).is_none_or(|next| !next.head().is_model_made());
        if ends_answer {
            let later = outputs.split_off(&(position + 1));
            let of_answer = std::mem::replace(&mut outputs, later);
            ordered.extend(of_answer.into_values().map(|output| items[output].clone()));
        }
    }
    ordered
}

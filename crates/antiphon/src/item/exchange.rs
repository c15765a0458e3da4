//! Calls and outputs, paired by their order.

use std::collections::HashMap;
use std::ops::Range;

use super::{CallKey, Head, Side};

/// Pairs calls with outputs, item by item.
///
/// An output answers the nearest earlier unanswered call of its kind and `call_id`, or the first of
/// several parallel calls. (Calls are parallel if no item of the client comes between them.) So
/// every output finds its call, even if a server restarts its call ids every turn or uses the same
/// one for all calls.
///
/// Takes constant time per item.
#[derive(Clone, Debug, Default)]
pub struct Exchanges {
    by_key: HashMap<CallKey, Exchange>,
    /// The number of the current run of model items, counted by the client items between runs.
    run: usize,
}

/// The part of an item in a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairRole {
    /// A call.
    Call,
    /// An output. Has the position of the call that it answers.
    Output(usize),
    /// An output for calls that are all answered. Has the position of the latest of them.
    RepeatedOutput(usize),
    /// An output without any call before it.
    OrphanOutput,
}

impl Exchanges {
    /// Pairs the item at `position` with earlier ones. Returns `None` if items of its kind do not
    /// pair.
    pub fn push(&mut self, position: usize, head: &Head) -> Option<PairRole> {
        if !head.is_model_made() {
            self.run += 1;
        }
        let (side, key) = head.pairing()?;
        let exchange = self.by_key.entry(key).or_default();
        Some(match side {
            Side::Call => exchange.push_call(position, self.run),
            Side::Output => exchange.answer(position),
        })
    }

    /// The calls and outputs under a key.
    pub fn get(&self, key: &CallKey) -> Option<&Exchange> {
        self.by_key.get(key)
    }

    /// The exchanges of all keys, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &Exchange> {
        self.by_key.values()
    }
}

/// The positions of the calls and outputs that share one key, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// The positions of the calls.
    pub calls: Vec<usize>,
    /// The positions of the outputs.
    pub outputs: Vec<usize>,
    /// For each call the position of its output.
    answers: Vec<Option<usize>>,
    waiting: Vec<Waiting>,
    unanswered: usize,
}

/// The unanswered calls of one run, as a range of indexes into [`Exchange::calls`]. Outputs answer
/// them from the first on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Waiting {
    run: usize,
    calls: Range<usize>,
}

impl Exchange {
    /// The number of unanswered calls.
    pub fn pending(&self) -> usize {
        self.unanswered
    }

    /// The positions of the unanswered calls, in the order in which outputs will answer them.
    pub fn waiting(&self) -> impl Iterator<Item = usize> {
        let latest_run_first = self.waiting.iter().rev();
        latest_run_first.flat_map(|waiting| self.calls[waiting.calls.clone()].iter().copied())
    }

    /// The position of the output that answers the `nth` call.
    pub fn answer_of(&self, nth: usize) -> Option<usize> {
        self.answers.get(nth).copied().flatten()
    }

    fn push_call(&mut self, position: usize, run: usize) -> PairRole {
        let call = self.calls.len();
        self.calls.push(position);
        self.answers.push(None);
        self.unanswered += 1;
        match self.waiting.last_mut() {
            Some(latest) if latest.run == run => latest.calls.end += 1,
            _ => self.waiting.push(Waiting { run, calls: call..call + 1 }),
        }
        PairRole::Call
    }

    fn answer(&mut self, position: usize) -> PairRole {
        self.outputs.push(position);
        let Some(call) = self.take_waiting() else {
            return self
                .calls
                .last()
                .map_or(PairRole::OrphanOutput, |call| PairRole::RepeatedOutput(*call));
        };
        self.answers[call] = Some(position);
        PairRole::Output(self.calls[call])
    }

    /// The first unanswered call of the latest run that has one.
    fn take_waiting(&mut self) -> Option<usize> {
        let latest = self.waiting.last_mut()?;
        let call = latest.calls.start;
        latest.calls.start += 1;
        if latest.calls.start == latest.calls.end {
            self.waiting.pop();
        }
        self.unanswered -= 1;
        Some(call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Item;
    use crate::item::given::{call, output, reasoning, user};

    fn joined(items: &[Item]) -> Vec<Option<PairRole>> {
        let mut exchanges = Exchanges::default();
        let push = |(position, item): (usize, &Item)| exchanges.push(position, item.head());
        items.iter().enumerate().map(push).collect()
    }

    #[test]
    fn output_answers_the_nearest_unanswered_call() {
        let history = [
            call("call_0", r#"{"city":"Bonn"}"#),
            user("never mind"),
            call("call_0", r#"{"city":"Rome"}"#),
            output("call_0", "20 degrees"),
        ];
        assert_eq!(joined(&history)[3], Some(PairRole::Output(2)));
    }

    #[test]
    fn parallel_calls_are_answered_in_order() {
        let history = [
            call("call_0", r#"{"city":"Bonn"}"#),
            reasoning("rs_1"),
            call("call_0", r#"{"city":"Rome"}"#),
            output("call_0", "10 degrees"),
            output("call_0", "20 degrees"),
            output("call_0", "30 degrees"),
        ];
        let outputs = joined(&history).split_off(3);
        let expected = [PairRole::Output(0), PairRole::Output(2), PairRole::RepeatedOutput(2)];
        assert_eq!(outputs, expected.map(Some));
    }

    #[test]
    fn calls_are_listed_in_answering_order() {
        let mut exchanges = Exchanges::default();
        let history = [call("c", "1"), user("no"), call("c", "2"), call("c", "3")];
        for (position, item) in history.iter().enumerate() {
            exchanges.push(position, item.head());
        }
        let (_, key) = history[0].head().pairing().unwrap();
        let exchange = exchanges.get(&key).unwrap();
        assert_eq!(exchange.waiting().collect::<Vec<_>>(), [2, 3, 0]);
        assert_eq!((exchange.pending(), exchange.answer_of(0)), (3, None));
    }

    #[test]
    fn output_before_its_call_is_an_orphan() {
        let history = [output("call_1", "done"), call("call_1", "{}")];
        assert_eq!(joined(&history), [Some(PairRole::OrphanOutput), Some(PairRole::Call)]);
    }

    #[test]
    fn call_of_an_older_turn_stays_pending() {
        let history = [
            call("call_0", r#"{"city":"Bonn"}"#),
            user("and Rome?"),
            call("call_0", r#"{"city":"Rome"}"#),
            output("call_0", "20 degrees"),
            output("call_0", "10 degrees"),
        ];
        assert_eq!(joined(&history)[4], Some(PairRole::Output(0)));
    }
}

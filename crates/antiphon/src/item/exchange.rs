//! Calls and outputs joined by their order.

use std::collections::HashMap;
use std::ops::Range;

use super::{CallKey, Head, Side};

/// Calls and outputs, joined as they come.
///
/// An output answers the nearest earlier unanswered call of its kind and `call_id`; of several that
/// a model made without a word from its caller in between, the first. So every output finds its
/// call, also where a server restarts its call ids every turn or sends one constant id.
///
/// Constant time an item.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exchanges {
    by_key: HashMap<CallKey, Exchange>,
    /// Counts the runs of items that a model made without a word from its caller.
    run: usize,
}

/// How an item of a pair was joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joined {
    /// A call.
    Asks,
    /// An output, with the position of the call that it answers.
    Answers(usize),
    /// An output for calls that are all answered, with the position of the latest of them.
    Repeats(usize),
    /// An output without any call before it.
    Orphan,
}

impl Exchanges {
    /// Joins the item at `position` with what came before it; `None` where it does not pair.
    pub(crate) fn push(&mut self, position: usize, head: &Head) -> Option<Joined> {
        if !head.is_model_made() {
            self.run += 1;
        }
        let (side, key) = head.pairing()?;
        let exchange = self.by_key.entry(key).or_default();
        Some(match side {
            Side::Call => exchange.ask(position, self.run),
            Side::Output => exchange.answer(position),
        })
    }

    /// The calls and outputs under a key.
    pub(crate) fn get(&self, key: &CallKey) -> Option<&Exchange> {
        self.by_key.get(key)
    }

    /// Those of every key, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Exchange> {
        self.by_key.values()
    }
}

/// The calls and outputs that share one key, as positions in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// Where it was called.
    pub calls: Vec<usize>,
    /// Where it was answered.
    pub outputs: Vec<usize>,
    /// For each call the output that answers it.
    answers: Vec<Option<usize>>,
    waiting: Vec<Waiting>,
    unanswered: usize,
}

/// The unanswered calls of one run, as indexes into [`Exchange::calls`]: they stand side by side,
/// and are answered from the first on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Waiting {
    run: usize,
    calls: Range<usize>,
}

impl Exchange {
    /// How many calls wait for their output.
    pub fn pending(&self) -> usize {
        self.unanswered
    }

    /// The positions of the calls that wait, in the order in which outputs will answer them.
    pub fn waiting(&self) -> impl Iterator<Item = usize> {
        let latest_run_first = self.waiting.iter().rev();
        latest_run_first.flat_map(|waiting| self.calls[waiting.calls.clone()].iter().copied())
    }

    /// The position of the output that answers the `nth` call.
    pub fn answer_of(&self, nth: usize) -> Option<usize> {
        self.answers.get(nth).copied().flatten()
    }

    fn ask(&mut self, position: usize, run: usize) -> Joined {
        let call = self.calls.len();
        self.calls.push(position);
        self.answers.push(None);
        self.unanswered += 1;
        match self.waiting.last_mut() {
            Some(latest) if latest.run == run => latest.calls.end += 1,
            _ => self.waiting.push(Waiting { run, calls: call..call + 1 }),
        }
        Joined::Asks
    }

    fn answer(&mut self, position: usize) -> Joined {
        self.outputs.push(position);
        let Some(call) = self.take_waiting() else {
            return self.calls.last().map_or(Joined::Orphan, |call| Joined::Repeats(*call));
        };
        self.answers[call] = Some(position);
        Joined::Answers(self.calls[call])
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

    fn joined(items: &[Item]) -> Vec<Option<Joined>> {
        let mut exchanges = Exchanges::default();
        let push = |(position, item): (usize, &Item)| exchanges.push(position, item.head());
        items.iter().enumerate().map(push).collect()
    }

    #[test]
    fn an_output_answers_the_nearest_unanswered_call() {
        let history = [
            call("call_0", r#"{"city":"Bonn"}"#),
            user("never mind"),
            call("call_0", r#"{"city":"Rome"}"#),
            output("call_0", "20 degrees"),
        ];
        assert_eq!(joined(&history)[3], Some(Joined::Answers(2)));
    }

    #[test]
    fn of_parallel_calls_the_first_is_answered_first() {
        let history = [
            call("call_0", r#"{"city":"Bonn"}"#),
            reasoning("rs_1"),
            call("call_0", r#"{"city":"Rome"}"#),
            output("call_0", "10 degrees"),
            output("call_0", "20 degrees"),
            output("call_0", "30 degrees"),
        ];
        let outputs = joined(&history).split_off(3);
        let expected = [Joined::Answers(0), Joined::Answers(2), Joined::Repeats(2)];
        assert_eq!(outputs, expected.map(Some));
    }

    #[test]
    fn calls_wait_in_the_order_in_which_they_are_answered() {
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
    fn an_output_that_comes_before_its_call_answers_nothing() {
        let history = [output("call_1", "done"), call("call_1", "{}")];
        assert_eq!(joined(&history), [Some(Joined::Orphan), Some(Joined::Asks)]);
    }

    #[test]
    fn a_call_of_an_older_turn_still_waits() {
        let history = [
            call("call_0", r#"{"city":"Bonn"}"#),
            user("and Rome?"),
            call("call_0", r#"{"city":"Rome"}"#),
            output("call_0", "20 degrees"),
            output("call_0", "10 degrees"),
        ];
        assert_eq!(joined(&history)[4], Some(Joined::Answers(0)));
    }
}

//! The second rule: the same call.
//!
//! Calls of one key are known in their order, and outputs by the call that they follow in the
//! input. Where clients leave the calls out, the outputs of a key are known in their order: of `n`
//! the last ones answer the calls that wait, the others are those that are held.

use std::collections::HashMap;

use super::known::Known;
use super::late::Late;
use super::{Rule, Verdict};
use crate::item::{CallKey, Exchange, Exchanges, FingerprintKey, Item, Joined, Side};
use crate::transcript::Transcript;

pub(super) struct Calls<'a> {
    transcript: &'a Transcript,
    incoming: &'a [Item],
    /// How the input's own calls and outputs are joined.
    joined: Vec<Option<Joined>>,
    /// For each call of the input the output that follows it there.
    answers: HashMap<usize, usize>,
    /// For each key how many of the held calls were met.
    met: HashMap<CallKey, usize>,
    loose: HashMap<CallKey, Loose>,
    late: Late<'a>,
}

/// Outputs whose calls the input leaves out.
#[derive(Default)]
struct Loose {
    total: usize,
    seen: usize,
    latest: Option<usize>,
    /// The held calls that wait, in the order in which they are answered.
    waiting: Vec<usize>,
}

impl<'a> Calls<'a> {
    pub(super) fn new(
        transcript: &'a Transcript,
        incoming: &'a [Item],
        key: FingerprintKey,
    ) -> Self {
        let mut exchanges = Exchanges::default();
        let mut calls = Self {
            transcript,
            incoming,
            joined: Vec::with_capacity(incoming.len()),
            answers: HashMap::new(),
            met: HashMap::new(),
            loose: HashMap::new(),
            late: Late::new(transcript, key),
        };
        for (position, item) in incoming.iter().enumerate() {
            let joined = exchanges.push(position, item.head());
            calls.note(position, joined);
        }
        calls
    }

    fn note(&mut self, position: usize, joined: Option<Joined>) {
        self.joined.push(joined);
        match joined {
            Some(Joined::Answers(call)) => {
                self.answers.insert(call, position);
            }
            Some(Joined::Orphan) => self.note_loose(position),
            _ => {}
        }
    }

    fn note_loose(&mut self, position: usize) {
        let Some((_, key)) = self.incoming[position].head().pairing() else {
            return;
        };
        let exchange = self.transcript.exchange(&key);
        let loose = self.loose.entry(key).or_insert_with(|| Loose {
            waiting: exchange.map_or_else(Vec::new, |exchange| exchange.waiting().collect()),
            ..Loose::default()
        });
        loose.total += 1;
    }

    /// What its call tells of the item at `position`. To be asked in order.
    pub(super) fn of(&mut self, position: usize, known: &[Known]) -> Known {
        let transcript = self.transcript;
        let Some((side, key)) = self.incoming[position].head().pairing() else {
            return Known::fresh();
        };
        let exchange = transcript.exchange(&key);
        match (side, self.joined[position]) {
            (Side::Call, _) => self.call(position, key, exchange),
            (_, Some(Joined::Answers(call))) => self.answer(position, call, exchange, known),
            (_, Some(Joined::Repeats(call))) => self.second_answer(position, call, exchange),
            _ => self.loose_output(position, &key, exchange),
        }
    }

    /// Takes note that the item at `position` is known by its id to be held at `place`.
    pub(super) fn pass(&mut self, position: usize, place: usize) {
        let transcript = self.transcript;
        let Some((side, key)) = transcript.items()[place].head.pairing() else {
            return;
        };
        let is_loose = self.joined[position] == Some(Joined::Orphan);
        if side == Side::Call {
            let calls = transcript.exchange(&key).map(|exchange| &exchange.calls);
            let nth = calls.and_then(|calls| calls.binary_search(&place).ok());
            self.met.insert(key, nth.map_or(0, |nth| nth + 1));
        } else if let Some(loose) = self.loose.get_mut(&key).filter(|_| is_loose) {
            loose.seen += 1;
        }
    }

    /// Whether of two items that share an id and say the same the second is a copy. A call is not
    /// where its output is another.
    pub(super) fn repeats(&self, first: usize, second: usize) -> bool {
        let outputs = (self.answers.get(&first), self.answers.get(&second));
        match outputs {
            (Some(one), Some(two)) => self.incoming[*two].says_the_same_as(&self.incoming[*one]),
            _ => true,
        }
    }

    fn call(&mut self, position: usize, key: CallKey, exchange: Option<&Exchange>) -> Known {
        let Some(exchange) = exchange else {
            return Known::fresh();
        };
        let met = self.met.get(&key).copied().unwrap_or_default();
        match exchange.calls.get(met) {
            Some(&place) if self.is_held(position, met, exchange) => {
                self.met.insert(key, met + 1);
                self.held(place, position)
            }
            _ => Known::fresh(),
        }
    }

    /// Whether the call at `position` is the `nth` held one of its key. Where both the call and its
    /// output say something else, it is another call under a used `call_id`.
    fn is_held(&self, position: usize, nth: usize, exchange: &Exchange) -> bool {
        let item = &self.incoming[position];
        let Some(held) = self.transcript.items()[exchange.calls[nth]].item() else {
            return true;
        };
        if held.says_the_same_as(item) {
            return true;
        }
        match (exchange.answer_of(nth), self.answers.get(&position)) {
            (Some(place), Some(output)) => !self.differs(place, *output),
            (Some(_), None) => true,
            (None, _) => held.object().string("name") == item.object().string("name"),
        }
    }

    /// An output that follows its call.
    fn answer(
        &self,
        position: usize,
        call: usize,
        exchange: Option<&Exchange>,
        known: &[Known],
    ) -> Known {
        if let Verdict::Duplicate(first) = known[call].verdict {
            return match self.answers.get(&first) {
                Some(output) if *output < position => {
                    Known::fresh().with(Verdict::Duplicate(*output))
                }
                _ => self.answer(position, first, exchange, known),
            };
        }
        let (Some(exchange), Some(place)) = (exchange, known[call].place) else {
            return Known::fresh();
        };
        let nth = exchange.calls.binary_search(&place).ok();
        match nth.and_then(|nth| exchange.answer_of(nth)) {
            Some(output) => self.held(output, position),
            None => Known::answering(place),
        }
    }

    /// One more output for a call of the input that has one already.
    fn second_answer(&self, position: usize, call: usize, exchange: Option<&Exchange>) -> Known {
        let first = self.answers.get(&call).copied();
        let is_copy = |first: &usize| self.says_the_same(*first, position);
        if let Some(first) = first.filter(is_copy) {
            return Known::fresh().with(Verdict::Duplicate(first));
        }
        self.repeated(position, exchange)
    }

    fn loose_output(
        &mut self,
        position: usize,
        key: &CallKey,
        exchange: Option<&Exchange>,
    ) -> Known {
        let Some(loose) = self.loose.get_mut(key) else {
            return Known::fresh();
        };
        let nth = loose.seen;
        loose.seen += 1;
        let former = loose.latest.replace(position);
        let outputs = exchange.map_or(&[][..], |exchange| &exchange.outputs);
        let held = outputs.len().min(loose.total.saturating_sub(loose.waiting.len()));
        if nth < held {
            return self.held(outputs[nth], position);
        }
        if let Some(call) = loose.waiting.get(nth - held) {
            return Known::answering(*call);
        }
        match former {
            Some(former) if self.says_the_same(former, position) => {
                Known::fresh().with(Verdict::Duplicate(former))
            }
            _ => self.repeated(position, exchange),
        }
    }

    /// An output for a call that is answered: what is held counts.
    fn repeated(&self, position: usize, exchange: Option<&Exchange>) -> Known {
        let answered = exchange.filter(|exchange| exchange.pending() == 0);
        match answered.and_then(|exchange| exchange.outputs.last()) {
            Some(output) => self.held(*output, position),
            None => Known::fresh(),
        }
    }

    fn held(&self, place: usize, position: usize) -> Known {
        let differs = self.differs(place, position);
        let known = Known::held(self.transcript, place, Rule::SameCall, differs);
        match self.late.verdict(place, &self.incoming[position]) {
            Some(verdict) => known.with(verdict),
            None => known,
        }
    }

    fn differs(&self, place: usize, position: usize) -> bool {
        let (holder, item) = (&self.transcript.items()[place], &self.incoming[position]);
        let says_otherwise = |held: Item| !held.says_the_same_as(item);
        !holder.is_byte_for_byte(item) && holder.item().is_some_and(says_otherwise)
    }

    fn says_the_same(&self, one: usize, two: usize) -> bool {
        self.incoming[one].says_the_same_as(&self.incoming[two])
    }
}

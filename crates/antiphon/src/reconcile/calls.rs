//! Rule 2: the same call.
//!
//! Calls with equal keys (kind and `call_id`) match the stored ones in order, and an output follows
//! its call of the input. If a client leaves the calls out, the outputs of a key are matched by
//! their order: the last ones answer the stored calls without an output, earlier ones are re-sent.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::assessment::Assessment;
use super::{Resent, Rule, Verdict};
use crate::item::{
    CallKey, Exchange, Exchanges, Fingerprint, FingerprintKey, Item, Kind, PairRole, Side,
};
use crate::placeholder::{is_placeholder, late_output_message};
use crate::transcript::{HeldItem, Transcript};

pub(super) struct Calls<'a> {
    transcript: &'a Transcript,
    incoming: &'a [Item],
    /// For each item of the input its part in a pair, as the input alone shows it.
    joined: Vec<Option<PairRole>>,
    /// For each call of the input, the output that follows it there.
    answers: HashMap<usize, usize>,
    /// For each key, the number of stored calls that the input has repeated so far.
    met: HashMap<CallKey, usize>,
    orphans: HashMap<CallKey, OrphanOutputs>,
    late: LateOutputs<'a>,
}

/// The outputs of one key whose calls the input leaves out.
#[derive(Default)]
struct OrphanOutputs {
    total: usize,
    seen: usize,
    latest: Option<usize>,
    /// The unanswered stored calls, in the order in which outputs answer them.
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
            orphans: HashMap::new(),
            late: LateOutputs::new(transcript, key),
        };
        for (position, item) in incoming.iter().enumerate() {
            let joined = exchanges.push(position, item.head());
            calls.note(position, joined);
        }
        calls
    }

    fn note(&mut self, position: usize, joined: Option<PairRole>) {
        self.joined.push(joined);
        match joined {
            Some(PairRole::Output(call)) => {
                self.answers.insert(call, position);
            }
            Some(PairRole::OrphanOutput) => self.note_orphan(position),
            _ => {}
        }
    }

    fn note_orphan(&mut self, position: usize) {
        let Some((_, key)) = self.incoming[position].head().pairing() else {
            return;
        };
        let exchange = self.transcript.exchange(&key);
        let orphans = self.orphans.entry(key).or_insert_with(|| OrphanOutputs {
            waiting: exchange.map_or_else(Vec::new, |exchange| exchange.waiting().collect()),
            ..OrphanOutputs::default()
        });
        orphans.total += 1;
    }

    /// Assesses the item at `position` by its call. Items have to be passed in order.
    pub(super) fn assess(&mut self, position: usize, assessments: &[Assessment]) -> Assessment {
        let transcript = self.transcript;
        let Some((side, key)) = self.incoming[position].head().pairing() else {
            return Assessment::fresh();
        };
        let exchange = transcript.exchange(&key);
        match (side, self.joined[position]) {
            (Side::Call, _) => self.call(position, key, exchange),
            (_, Some(PairRole::Output(call))) => self.answer(position, call, exchange, assessments),
            (_, Some(PairRole::RepeatedOutput(call))) => {
                self.second_answer(position, call, exchange)
            }
            _ => self.orphan_output(position, &key, exchange),
        }
    }

    /// Records that the item at `position` was matched by its id with the one stored at `place`.
    pub(super) fn skip(&mut self, position: usize, place: usize) {
        let transcript = self.transcript;
        let Some((side, key)) = transcript.items()[place].head.pairing() else {
            return;
        };
        let is_orphan = self.joined[position] == Some(PairRole::OrphanOutput);
        if side == Side::Call {
            let calls = transcript.exchange(&key).map(|exchange| &exchange.calls);
            let nth = calls.and_then(|calls| calls.binary_search(&place).ok());
            self.met.insert(key, nth.map_or(0, |nth| nth + 1));
        } else if let Some(orphans) = self.orphans.get_mut(&key).filter(|_| is_orphan) {
            orphans.seen += 1;
        }
    }

    /// Whether the second of two items with equal id and content is a copy of the first. A call
    /// whose output differs is not.
    pub(super) fn is_repetition(&self, first: usize, second: usize) -> bool {
        let outputs = (self.answers.get(&first), self.answers.get(&second));
        match outputs {
            (Some(one), Some(two)) => self.incoming[*two].has_same_content(&self.incoming[*one]),
            _ => true,
        }
    }

    fn call(&mut self, position: usize, key: CallKey, exchange: Option<&Exchange>) -> Assessment {
        let Some(exchange) = exchange else {
            return Assessment::fresh();
        };
        let met = self.met.get(&key).copied().unwrap_or_default();
        match exchange.calls.get(met) {
            Some(&place) if self.is_held(position, met, exchange) => {
                self.met.insert(key, met + 1);
                self.assess_held(place, position)
            }
            _ => Assessment::fresh(),
        }
    }

    /// Whether the call at `position` is the `nth` stored one of its key. If both the call and its
    /// output differ from the stored ones, it is a different call under a used `call_id`.
    fn is_held(&self, position: usize, nth: usize, exchange: &Exchange) -> bool {
        let item = &self.incoming[position];
        let Some(held) = self.transcript.items()[exchange.calls[nth]].item() else {
            return true;
        };
        if held.has_same_content(item) {
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
        assessments: &[Assessment],
    ) -> Assessment {
        if let Verdict::Duplicate(first) = assessments[call].verdict {
            return match self.answers.get(&first) {
                Some(output) if *output < position => {
                    Assessment::fresh().with(Verdict::Duplicate(*output))
                }
                _ => self.answer(position, first, exchange, assessments),
            };
        }
        let (Some(exchange), Some(place)) = (exchange, assessments[call].place) else {
            return Assessment::fresh();
        };
        let nth = exchange.calls.binary_search(&place).ok();
        match nth.and_then(|nth| exchange.answer_of(nth)) {
            Some(output) => self.assess_held(output, position),
            None => Assessment::for_output(place),
        }
    }

    /// Another output for a call of the input that already has one.
    fn second_answer(
        &self,
        position: usize,
        call: usize,
        exchange: Option<&Exchange>,
    ) -> Assessment {
        let first = self.answers.get(&call).copied();
        let is_copy = |first: &usize| self.have_same_content(*first, position);
        if let Some(first) = first.filter(is_copy) {
            return Assessment::fresh().with(Verdict::Duplicate(first));
        }
        self.assess_repeated_output(position, exchange)
    }

    fn orphan_output(
        &mut self,
        position: usize,
        key: &CallKey,
        exchange: Option<&Exchange>,
    ) -> Assessment {
        let Some(orphans) = self.orphans.get_mut(key) else {
            return Assessment::fresh();
        };
        let nth = orphans.seen;
        orphans.seen += 1;
        let previous = orphans.latest.replace(position);
        let outputs = exchange.map_or(&[][..], |exchange| &exchange.outputs);
        let held = outputs.len().min(orphans.total.saturating_sub(orphans.waiting.len()));
        if nth < held {
            return self.assess_held(outputs[nth], position);
        }
        if let Some(call) = orphans.waiting.get(nth - held) {
            return Assessment::for_output(*call);
        }
        match previous {
            Some(previous) if self.have_same_content(previous, position) => {
                Assessment::fresh().with(Verdict::Duplicate(previous))
            }
            _ => self.assess_repeated_output(position, exchange),
        }
    }

    /// An output for a call that is already answered. The stored output wins.
    fn assess_repeated_output(&self, position: usize, exchange: Option<&Exchange>) -> Assessment {
        let answered = exchange.filter(|exchange| exchange.pending() == 0);
        match answered.and_then(|exchange| exchange.outputs.last()) {
            Some(output) => self.assess_held(*output, position),
            None => Assessment::fresh(),
        }
    }

    fn assess_held(&self, place: usize, position: usize) -> Assessment {
        let differs = self.differs(place, position);
        let assessment = Assessment::held(self.transcript, place, Rule::SameCall, differs);
        match self.late.verdict(place, &self.incoming[position]) {
            Some(verdict) => assessment.with(verdict),
            None => assessment,
        }
    }

    fn differs(&self, place: usize, position: usize) -> bool {
        let (holder, item) = (&self.transcript.items()[place], &self.incoming[position]);
        let has_other_content = |held: Item| !held.has_same_content(item);
        !holder.is_byte_for_byte(item) && holder.item().is_some_and(has_other_content)
    }

    fn have_same_content(&self, one: usize, two: usize) -> bool {
        self.incoming[one].has_same_content(&self.incoming[two])
    }
}

/// Distinguishes late outputs from re-sent ones.
struct LateOutputs<'a> {
    transcript: &'a Transcript,
    key: FingerprintKey,
    /// The positions of the stored messages that carry late outputs.
    carriers: OnceCell<HashMap<Fingerprint, usize>>,
}

impl<'a> LateOutputs<'a> {
    pub(super) fn new(transcript: &'a Transcript, key: FingerprintKey) -> Self {
        Self { transcript, key, carriers: OnceCell::new() }
    }

    /// The verdict on an output for the call that the output at `place` answers. Returns `None` if
    /// the stored output is a real one, or if the placeholder itself came back.
    pub(super) fn verdict(&self, place: usize, output: &Item) -> Option<Verdict> {
        let is_late = self.transcript.items()[place].is_placeholder() && !is_placeholder(output);
        is_late.then(|| match self.carrier_position(output) {
            Some(held) => Verdict::Resent(Resent { held, rule: Rule::SameCall, differs: false }),
            None => Verdict::LateOutput { placeholder: place },
        })
    }

    /// The position of the stored message that carries `output`.
    fn carrier_position(&self, output: &Item) -> Option<usize> {
        let content = Fingerprint::from_item(self.key, &late_output_message(output)?)?;
        self.carriers.get_or_init(|| find_carriers(self.transcript)).get(&content).copied()
    }
}

fn find_carriers(transcript: &Transcript) -> HashMap<Fingerprint, usize> {
    let carries = |item: &HeldItem| item.head.kind == Kind::Message && item.is_placeholder();
    let held = transcript.items().iter().enumerate().filter(|(_, item)| carries(item));
    held.filter_map(|(position, item)| Some((item.fingerprint?, position))).collect()
}

//! Repairs calls and outputs: each call gets one output and a `call_id` of its own.
//!
//! Calls and outputs are paired by order (see [`Exchanges`]). So every real output stays, even if a
//! server restarts its call ids or uses the same one for all calls.

use std::collections::HashMap;

use super::call_ids::{self, CallIds};
use super::{Action, Draft, OnOutputWithoutCall, OnUnansweredCall, Policy, may_be_model_made};
use crate::faults::Fault;
use crate::item::{CallId, CallKey, Exchanges, Head, Item, ItemId, Kind, PairRole, Side};
use crate::placeholder::placeholder;

pub(super) fn repair(draft: &mut Draft, policy: &Policy) {
    let mut pairs = Pairs::default();
    pairs.join(draft, policy);
    for copy in pairs.copies(draft) {
        pairs.leave_out_copy(draft, &copy);
    }
    let answers = policy.unanswered_calls != OnUnansweredCall::Drop;
    for call in &calls(draft, &pairs) {
        if call.is_unanswerable(draft) || call.lacks_output() && !answers {
            draft.leave_out(call.position, call.unanswered_fault(), Action::Dropped);
        }
    }
    let calls = calls(draft, &pairs);
    let mut call_ids = CallIds::new(keys(draft));
    for call in &calls {
        repair_call(draft, call, &mut call_ids);
    }
}

/// The keys of all calls, and of outputs whose calls the server may hold.
fn keys(draft: &Draft) -> impl Iterator<Item = CallKey> {
    draft.items().filter_map(|(_, item)| Some(item.head().pairing()?.1))
}

#[derive(Default)]
struct Pairs {
    exchanges: Exchanges,
    /// For each answered call the position of its output.
    outputs: HashMap<usize, usize>,
    /// The outputs for calls that are not in the list.
    for_calls_elsewhere: HashMap<CallKey, Vec<usize>>,
}

/// A call that is a copy of another.
struct RepeatedCall {
    position: usize,
    original: usize,
}

impl Pairs {
    /// Pairs every output with its call. Without one, the policy decides about the output.
    fn join(&mut self, draft: &mut Draft, policy: &Policy) {
        let keeps_orphans = policy.outputs_without_call == OnOutputWithoutCall::Keep;
        for position in 0..draft.len() {
            let Some(item) = draft.get(position) else {
                continue;
            };
            match self.exchanges.push(position, item.head()) {
                Some(PairRole::Output(call)) => {
                    self.outputs.insert(call, position);
                }
                Some(PairRole::RepeatedOutput(call)) => {
                    let left = keep_one_output(draft, self.outputs[&call], position);
                    self.outputs.insert(call, left);
                }
                Some(PairRole::OrphanOutput) if keeps_orphans => self.keep_orphan(draft, position),
                Some(PairRole::OrphanOutput) => {
                    let fault = output_without_call(item);
                    draft.leave_out(position, fault, Action::Dropped);
                }
                Some(PairRole::Call) | None => {}
            }
        }
    }

    /// Keeps one output for a call that the server may hold, or as many as there are such calls.
    fn keep_orphan(&mut self, draft: &mut Draft, position: usize) {
        let Some((_, key)) = draft.item(position).head().pairing() else {
            return;
        };
        let calls = draft.calls_elsewhere(&key).max(1);
        let outputs = self.for_calls_elsewhere.entry(key).or_default();
        if outputs.len() < calls {
            outputs.push(position);
        } else if let Some(latest) = outputs.last_mut() {
            *latest = keep_one_output(draft, *latest, position);
        }
    }

    fn copies(&self, draft: &Draft) -> Vec<RepeatedCall> {
        let repeated = self.exchanges.iter().filter(|exchange| exchange.calls.len() > 1);
        let runs = repeated
            .flat_map(|exchange| exchange.calls.chunk_by(|one, two| draft.are_same(*one, *two)));
        runs.flat_map(|calls| self.copies_among(calls, draft)).collect()
    }

    /// The copies among adjacent equal calls: those without an output of their own, and those with
    /// the item id and the output of an earlier one. Any other call is a second, deliberate one.
    fn copies_among(&self, calls: &[usize], draft: &Draft) -> Vec<RepeatedCall> {
        let answered = calls.iter().find(|call| self.outputs.contains_key(call));
        let original = *answered.unwrap_or(&calls[0]);
        let mut by_id: HashMap<&ItemId, usize> = HashMap::new();
        let mut copies = Vec::new();
        for &position in calls {
            let id = draft.item(position).head().id.as_ref();
            match self.outputs.get(&position) {
                None if position != original => copies.push(RepeatedCall { position, original }),
                Some(output) => {
                    let first = id.map_or(position, |id| *by_id.entry(id).or_insert(position));
                    if first != position && draft.are_same(self.outputs[&first], *output) {
                        copies.push(RepeatedCall { position, original: first });
                    }
                }
                None => {}
            }
        }
        copies
    }

    fn leave_out_copy(&mut self, draft: &mut Draft, copy: &RepeatedCall) {
        let head = draft.item(copy.position).head();
        let original = draft.item(copy.original).head();
        let fault = match &head.id {
            Some(id) if head.id == original.id => Fault::DuplicateItem { id: id.clone() },
            _ => duplicate_call(head, true),
        };
        draft.leave_out(copy.position, fault, Action::Dropped);
        if let Some(output) = self.outputs.remove(&copy.position) {
            let fault = duplicate_output(draft.item(output));
            draft.leave_out(output, fault, Action::Dropped);
        }
    }
}

/// Keeps one of two outputs for a call and returns its position. An equal later one is left out; a
/// different one replaces the earlier, unless the server holds that.
fn keep_one_output(draft: &mut Draft, earlier: usize, later: usize) -> usize {
    let fault = duplicate_output(draft.item(later));
    if draft.is_held(earlier) || draft.are_same(earlier, later) {
        draft.leave_out(later, fault, Action::Dropped);
        earlier
    } else {
        draft.leave_out(earlier, fault, Action::Replaced);
        later
    }
}

/// One call, with positions in the draft.
struct Call {
    key: CallKey,
    position: usize,
    output: Option<usize>,
    /// The last of the parallel calls. A placeholder output goes after it.
    last_of_run: usize,
}

impl Call {
    fn lacks_output(&self) -> bool {
        self.output.is_none() && self.key.kind.must_be_answered()
    }

    /// Whether the call has no output and cannot get one: it was cut short, or its kind has no
    /// placeholder output.
    fn is_unanswerable(&self, draft: &Draft) -> bool {
        let is_unfinished = draft.item(self.position).head().unfinished;
        self.lacks_output() && (is_unfinished || placeholder(&self.key.kind).is_none())
    }

    fn unanswered_fault(&self) -> Fault {
        let CallKey { kind, call_id } = self.key.clone();
        Fault::UnansweredCall { kind, call_id }
    }
}

/// The remaining calls, in order.
fn calls(draft: &Draft, pairs: &Pairs) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut last_of_run = None;
    for (position, item) in draft.items().rev() {
        if !item.head().is_model_made() {
            last_of_run = None;
        }
        if let Some((Side::Call, key)) = item.head().pairing() {
            calls.push(Call {
                key,
                position,
                output: pairs.outputs.get(&position).copied(),
                last_of_run: *last_of_run.get_or_insert(position),
            });
        }
    }
    calls.reverse();
    calls
}

/// Replaces the call's `call_id` if it is malformed or taken, and answers the call if nobody did.
fn repair_call(draft: &mut Draft, call: &Call, call_ids: &mut CallIds) {
    let name = call_ids.replacement_for(&call.key).filter(|_| !draft.is_held(call.position));
    if let Some(name) = &name {
        rename(draft, call, name);
    }
    if !call.lacks_output() {
        return;
    }
    if let Some(placeholder) = placeholder(&call.key.kind) {
        draft.note(call.position, call.unanswered_fault(), Action::Answered);
        let output = placeholder.for_call(name.as_ref().unwrap_or(&call.key.call_id));
        draft.insert_after(placeholder_position(draft, call), output);
    }
}

/// The position after which the placeholder output goes: the last of the parallel calls. If the
/// server holds reasoning as its last item, the fresh items that continue it come first, because an
/// output in between would leave the reasoning alone.
fn placeholder_position(draft: &Draft, call: &Call) -> usize {
    let continues = |head: &Head| head.kind == Kind::Reasoning || may_be_model_made(head);
    if !draft.is_held(call.last_of_run) || !draft.holds_reasoning_last() {
        return call.last_of_run;
    }
    let fresh = draft.items().filter(|(position, _)| !draft.is_held(*position));
    let continued = fresh.take_while(|(_, item)| continues(item.head()));
    continued.last().map_or(call.last_of_run, |(position, _)| position)
}

fn rename(draft: &mut Draft, call: &Call, name: &CallId) {
    let fault = call_id_fault(draft.item(call.position));
    let is_missing = matches!(fault, Fault::MissingCallId { .. });
    let action = if is_missing { Action::CallIdAdded } else { Action::Renamed };
    draft.note(call.position, fault, action);
    for position in [Some(call.position), call.output].into_iter().flatten() {
        draft.change(position, |item| item.with_call_id(name));
    }
}

/// The reason why a call, or an output without a `call_id`, cannot keep its `call_id`.
pub(super) fn call_id_fault(item: &Item) -> Fault {
    let head = item.head();
    let kind = head.kind.clone();
    match &head.call_id {
        None => Fault::MissingCallId { kind },
        Some(call_id) if call_id.as_str().is_empty() => Fault::EmptyCallId { kind },
        Some(call_id) if call_ids::is_overlong(call_id) => {
            Fault::OverlongCallId { kind, call_id: call_id.clone() }
        }
        Some(_) => duplicate_call(head, false),
    }
}

fn duplicate_call(head: &Head, identical: bool) -> Fault {
    Fault::DuplicateCall { kind: head.kind.clone(), call_id: call_id(head), identical }
}

fn duplicate_output(output: &Item) -> Fault {
    Fault::DuplicateOutput { kind: output.head().kind.clone(), call_id: call_id(output.head()) }
}

pub(super) fn output_without_call(output: &Item) -> Fault {
    Fault::OutputWithoutCall {
        kind: output.head().kind.clone(),
        call_id: output.head().call_id.clone(),
    }
}

fn call_id(head: &Head) -> CallId {
    head.call_id.clone().unwrap_or_else(|| CallId::from(""))
}

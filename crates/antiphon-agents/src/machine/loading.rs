//! The items of the owner, and calls that an earlier process left open.

use antiphon::Item;
use antiphon::faults::OmissionReason;
use antiphon::item::{CallKey, Exchange, Exchanges, Kind, Side};
use antiphon::repair::ReportedRepair;
use antiphon::tracker::{Attempt, Tracker};

use super::calls::{CallStatus, OpenCall, call_key, tool_name};
use super::ending::{NOT_RUN, UNKNOWN_OUTCOME};
use super::prepared::Prepared;
use super::state::{ClientHistory, Owner, Stop, Transfer, TransferStage};
use super::{End, Load, Machine, ModelAnswer};
use crate::tool::{Approval, OnUnknownOutcome};

/// The items that the owner of the state holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    /// The items, in order.
    pub items: Vec<Item>,
    /// The calls that a session stored as started.
    pub started: Vec<CallKey>,
}

impl Machine {
    /// The items to read now.
    pub(super) fn load(&self) -> Option<Load> {
        let is_transfer = self.state.calls.is_empty()
            && matches!(self.state.transfer, Some(Transfer { stage: TransferStage::Loading, .. }));
        if self.is_loaded && !is_transfer {
            return None;
        }
        match &self.state.owner {
            Owner::Replay(_) => None,
            Owner::Session { .. } if self.is_loaded => None,
            Owner::Session { key, .. } => Some(Load::Session(key.clone())),
            Owner::Server { tracker, .. } => Some(Load::Server(tracker.continuation().clone())),
        }
    }

    /// Records the items of [`Step::Load`](super::Step::Load).
    pub fn loaded(&mut self, loaded: Loaded) {
        let Loaded { items, started } = loaded;
        if self.is_loaded {
            self.loaded_for_transfer(items);
            return self.advance();
        }
        self.is_loaded = true;
        self.prepared = Prepared::default();
        match &mut self.state.owner {
            Owner::Replay(_) => {}
            Owner::Session { history, .. } => {
                // A process that died may have stored items after the state of its run.
                let stored_since = items.get(history.stored..).unwrap_or_default();
                let unsaved = &self.state.items[self.state.saved..];
                let is_same = |(one, two): &(&Item, &Item)| one.raw() == two.raw();
                self.state.saved += stored_since.iter().zip(unsaved).take_while(is_same).count();
                let elsewhere = answered_calls(stored_since);
                history.stored = items.len();
                history.run_from = self.state.saved;
                history.held = items;
                self.settle_elsewhere(&elsewhere, &started);
                self.recover(&started);
            }
            Owner::Server { tracker, asking } => {
                let items = match tracker.continuation().conversation_id() {
                    Some(_) => without_lone_reasoning(items, &mut self.state.rejected),
                    None => items,
                };
                self.repairs.extend(self.state.rejected.iter().map(lone_reasoning));
                match asking.take().and_then(|attempt| find_answer(tracker, attempt, &items)) {
                    Some((attempt, output)) => {
                        let answer = ModelAnswer { output, ..ModelAnswer::default() };
                        match self.state.stopping {
                            Some(Stop::Now(End::Tripped { .. })) => {
                                self.reject_answer(Some(attempt), &answer);
                            }
                            _ => self.accept(Some(attempt), &answer),
                        }
                    }
                    None => self.recover_server(&items),
                }
            }
        }
        self.advance();
    }

    /// Records that the items of the owner cannot be read: the run ends with `error`.
    pub fn load_failed(&mut self, error: &str) {
        self.is_loaded = true;
        self.state.transfer = None;
        self.stop(End::Failed { error: error.to_owned() });
        self.advance();
    }

    /// Settles the calls that other processes have taken up since the state was taken. A call that
    /// was `answered` keeps its output, and its tool does not run. One that was only `started` has
    /// an unknown outcome, except for a call with a run inside it, which had started before the
    /// state was taken.
    fn settle_elsewhere(&mut self, answered: &[CallKey], started: &[CallKey]) {
        let is_answered = |item: &Item| {
            item.head()
                .pairing()
                .is_some_and(|(side, key)| side == Side::Output && answered.contains(&key))
        };
        let unsaved = self.state.items.split_off(self.state.saved);
        self.state.items.extend(unsaved.into_iter().filter(|item| !is_answered(item)));
        for key in answered {
            self.state.calls.remove(key);
        }
        let is_settled =
            |call: &OpenCall| call.status == CallStatus::OutcomeUnknown || call.inner.is_some();
        let open = self.state.calls.iter().filter(|call| !is_settled(call)).cloned();
        let taken_up: Vec<_> = open.filter(|call| started.contains(&call.key())).collect();
        for call in taken_up {
            self.state.calls.remove(&call.key());
            self.resolve_unknown(call);
        }
    }

    /// Finds the calls at the end of a client's history that have no output. `started` are those
    /// whose tools may have run.
    pub(super) fn recover(&mut self, started: &[CallKey]) {
        let Some(history) = self.state.client_history() else { return };
        let (items, held) = (self.all_items(), history.held.len());
        let open = open_calls_at_end(&items[..held], &items[held..]);
        for call in open {
            match (self.state.calls.contains(&call_key(&call)), started.contains(&call_key(&call)))
            {
                (true, _) => {}
                (false, true) => self.resolve_unknown(self.found(call)),
                (false, false) => self.close_unanswered(&call, NOT_RUN),
            }
        }
    }

    /// Finds the server's calls without an output. A tool of another process may have run.
    fn recover_server(&mut self, items: &[Item]) {
        let Owner::Server { tracker, .. } = &mut self.state.owner else { return };
        tracker.hydrate(items);
        let is_answered = |key: &CallKey| {
            let mut staged = self.state.staged.waiting().iter();
            staged.any(|item| item.head().pairing() == Some((Side::Output, key.clone())))
        };
        let open = server_calls(tracker, items).into_iter();
        let open: Vec<_> = open.filter(|call| !is_answered(&call_key(call))).collect();
        for call in open {
            if !self.state.calls.contains(&call_key(&call)) {
                self.resolve_unknown(self.found(call));
            }
        }
    }

    /// A call in the items of the owner. Its agent is not known.
    fn found(&self, call: Item) -> OpenCall {
        OpenCall::new(call, &self.state.agent, Approval::Never)
    }

    /// Gives the calls that were running an unknown outcome.
    pub(super) fn mark_interrupted(&mut self) {
        let running: Vec<_> = self.state.calls.with_status(CallStatus::Started).cloned().collect();
        for call in running {
            self.state.calls.remove(&call.key());
            self.resolve_unknown(call);
        }
    }

    /// Applies the policy of a tool to a call whose outcome is unknown.
    fn resolve_unknown(&mut self, call: OpenCall) {
        let facts = self.roster.tool(&call.agent, &tool_name(&call.item));
        match facts.map_or(OnUnknownOutcome::Fail, |facts| facts.on_unknown) {
            OnUnknownOutcome::Fail => self.close_unanswered(&call.item, UNKNOWN_OUTCOME),
            OnUnknownOutcome::Retry => self.reopen(call, CallStatus::Ready),
            OnUnknownOutcome::Ask => self.reopen(call, CallStatus::OutcomeUnknown),
        }
    }

    fn reopen(&mut self, call: OpenCall, status: CallStatus) {
        self.state.calls.push(OpenCall { status, ..call });
    }
}

impl super::RunState {
    pub(super) fn client_history(&self) -> Option<&ClientHistory> {
        match &self.owner {
            Owner::Replay(history) | Owner::Session { history, .. } => Some(history),
            Owner::Server { .. } => None,
        }
    }
}

/// The calls that these items answer.
fn answered_calls(items: &[Item]) -> Vec<CallKey> {
    let pairings = items.iter().filter_map(|item| item.head().pairing());
    pairings.filter(|(side, _)| *side == Side::Output).map(|(_, key)| key).collect()
}

/// The answer to a request in flight, if the server has it. Otherwise the request has ended.
fn find_answer(
    tracker: &mut Tracker,
    attempt: Attempt,
    items: &[Item],
) -> Option<(Attempt, Vec<Item>)> {
    match tracker.find_answer(attempt, items) {
        Some([]) => {
            tracker.accept(attempt, None, &[]).expect("it is in flight");
            None
        }
        Some(output) => Some((attempt, output.to_vec())),
        None => {
            tracker.hydrate(items);
            tracker.rewind(attempt).expect("it is in flight");
            None
        }
    }
}

/// Moves the reasoning at the end to `lone`: its answer broke off, and the server refuses every
/// request after it.
fn without_lone_reasoning(mut items: Vec<Item>, lone: &mut Vec<Item>) -> Vec<Item> {
    let is_reasoning = |item: &&Item| item.head().kind == Kind::Reasoning;
    let count = items.iter().rev().take_while(is_reasoning).count();
    *lone = items.split_off(items.len() - count);
    items
}

/// The report of reasoning that is removed from a server's conversation.
fn lone_reasoning(item: &Item) -> ReportedRepair {
    ReportedRepair::from_omission(None, item, OmissionReason::LoneReasoning)
}

/// The calls of the last answer in `history` that have no output in `history` or `input`. Nothing
/// but outputs comes after them in the history.
fn open_calls_at_end(history: &[Item], input: &[Item]) -> Vec<Item> {
    let mut exchanges = Exchanges::default();
    for (position, item) in history.iter().chain(input).enumerate() {
        exchanges.push(position, item.head());
    }
    let is_output = |item: &Item| item.head().kind.call().is_some();
    let outputs = history.iter().rev().take_while(|item| is_output(item)).count();
    let answer = history[..history.len() - outputs].iter().rev();
    let end = history.len() - outputs;
    let begin = end - answer.take_while(|item| item.head().is_model_made()).count();
    let mut open: Vec<usize> = exchanges.iter().flat_map(Exchange::waiting).collect();
    open.retain(|at| (begin..end).contains(at) && history[*at].head().kind.must_be_answered());
    open.sort_unstable();
    open.into_iter().map(|at| history[at].clone()).collect()
}

/// The calls of the server that neither side has an output for.
fn server_calls(tracker: &Tracker, items: &[Item]) -> Vec<Item> {
    let open = tracker.unresolved().calls;
    let item = |call: &antiphon::tracker::UnansweredCall| {
        let is_it = |item: &&Item| {
            item.head().id == call.id
                && item.head().pairing().is_some_and(|(_, key)| key == call.key)
        };
        items.iter().rev().find(is_it).cloned()
    };
    open.iter().filter_map(item).collect()
}

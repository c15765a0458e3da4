//! The state machine of a run, without I/O, clock or randomness.
//!
//! A [`Machine`] asks for one effect at a time ([`Machine::step`]); its caller performs the effect
//! and records the result. [`Run`](crate::run::Run) does this with tokio. Other callers are tests,
//! and workflow engines that record every effect themselves.
//!
//! ```text
//! Load --> Save --> Ask --> Save --> Review --> Wait --> Save --> Call --> Save --> Ask ...
//!                    |                                                      '--> View --> Fork
//!                    '--> Check --> Save --> Deliver --> Done
//! ```
//!
//! Laws, for every owner of the state:
//!
//! - The input is saved before the model is asked, and an answer before a tool runs.
//! - A call is saved as started before its tool runs, and its output before the next request.
//! - The model is given each item once. A tool runs once for each `call_id`; if its process died
//!   meanwhile, its outcome is unknown, and the tool's policy decides.
//! - When the run ends, every call has an output.

mod answer;
mod calls;
mod compaction;
mod decisions;
mod ending;
mod inner;
mod loading;
mod owner;
mod prepared;
mod state;
mod step;
#[cfg(test)]
mod tests;
mod transfer;

use std::sync::Arc;
use std::time::Duration;

use antiphon::Item;
use antiphon::item::CallKey;
use antiphon::repair::ReportedRepair;
use antiphon::tracker::{Continuation, ReasoningIds, Returned, RunFinished, SendError, Tracker};

pub use answer::ModelAnswer;
pub use calls::{call_key, tool_name};
pub(crate) use compaction::split_read;
pub use compaction::{Compactable, Compacted};
pub(crate) use decisions::Decision;
pub use decisions::DecisionError;
pub(crate) use inner::InnerRun;
pub use loading::Loaded;
pub use state::{AnswerRecord, Fork, RunState, RunStateError};
pub use step::{Ask, Check, End, Load, Pause, Save, Step};

use self::calls::{CallStatus, OpenCall};
use self::prepared::Prepared;
use self::state::{ClientHistory, Owner, Stop};
use crate::roster::{AgentFacts, Limits, Roster};
use crate::rules::{CallLedger, FailedRequest, FailureKind, Outcome, Retries, RetryDecision};

/// A run between two effects.
#[derive(Clone, Debug)]
pub struct Machine {
    roster: Arc<Roster>,
    state: RunState,
    /// Whether the items of the owner are known.
    is_loaded: bool,
    prepared: Prepared,
    ledger: CallLedger,
    retries: Retries,
    delay: Option<Duration>,
    /// Whether a request has been sent in this process and not answered.
    awaits_answer: bool,
    /// The machine's own changes, which it has not reported yet.
    repairs: Vec<ReportedRepair>,
}

/// The owner of the conversation's state in a new run.
#[derive(Clone, Debug)]
pub enum NewOwner {
    /// The application, which has these items from earlier runs.
    Replay(Vec<Item>),
    /// The session with this key.
    Session(String),
    /// A server.
    Server(Continuation),
}

impl Machine {
    /// Starts a run: `agent` answers `input`.
    pub fn start(roster: Arc<Roster>, agent: &str, owner: NewOwner, input: Vec<Item>) -> Self {
        let is_loaded = match &owner {
            NewOwner::Replay(_) => true,
            NewOwner::Session(_) => false,
            NewOwner::Server(from) => is_empty(from),
        };
        let owner = match owner {
            NewOwner::Replay(held) => {
                Owner::Replay(ClientHistory { held, ..ClientHistory::default() })
            }
            NewOwner::Session(key) => Owner::Session { key, history: ClientHistory::default() },
            NewOwner::Server(from) => {
                let tracker = Box::new(Tracker::new(from, ReasoningIds::Keep));
                Owner::Server { tracker, asking: None }
            }
        };
        // The input follows the outputs of calls that an earlier run left open.
        let mut state = RunState::new(agent, owner);
        for item in input {
            state.staged.stage(item).expect("the run is new");
        }
        let mut machine = Self::with_state(roster, state, is_loaded);
        if is_loaded {
            machine.recover(&[]);
        }
        machine.advance();
        machine
    }

    /// Continues a run from its state. Calls that were running have an unknown outcome.
    pub fn resume(roster: Arc<Roster>, state: RunState) -> Self {
        let is_over = state.end.is_some() && state.saved == state.items.len();
        let is_loaded = matches!(state.owner, Owner::Replay(_)) || is_over;
        let mut machine = Self::with_state(roster, state, is_loaded);
        machine.ledger = CallLedger::from_history(&machine.state.items);
        machine.mark_interrupted();
        machine.advance();
        machine
    }

    fn with_state(roster: Arc<Roster>, state: RunState, is_loaded: bool) -> Self {
        let retries = roster.limits.retries();
        Self {
            roster,
            state,
            is_loaded,
            prepared: Prepared::default(),
            ledger: CallLedger::default(),
            retries,
            delay: None,
            awaits_answer: false,
            repairs: Vec::new(),
        }
    }

    /// Sets the limits of the run.
    pub fn set_limits(&mut self, limits: Limits) {
        self.retries = limits.retries();
        Arc::make_mut(&mut self.roster).limits = limits;
    }

    /// Sets the treatment of reasoning ids. Call it before the first request.
    pub fn set_reasoning_ids(&mut self, policy: ReasoningIds) {
        self.state.reasoning_ids = policy;
        if let Owner::Server { tracker, .. } = &mut self.state.owner {
            tracker.set_reasoning_ids(policy);
        }
    }

    /// The limits of the run.
    pub fn limits(&self) -> &Limits {
        &self.roster.limits
    }

    /// The state of the run, to store it. A session has the items before the run.
    pub fn state(&self) -> RunState {
        self.state.without_held()
    }

    /// The state of the run, with all items.
    pub fn view(&self) -> &RunState {
        &self.state
    }

    /// All items that the application owns: those before the run, and those of the run. Empty if a
    /// server owns them.
    pub fn all_items(&self) -> Vec<Item> {
        let history = self.state.client_history();
        history.map_or_else(Vec::new, |history| {
            [&history.held[..], &self.state.items[history.run_from..]].concat()
        })
    }

    /// The items that a server has not got yet.
    pub fn unsent(&self) -> Vec<Item> {
        match &self.state.owner {
            Owner::Server { tracker, .. } => {
                tracker.plan().items.into_iter().map(|planned| planned.item).collect()
            }
            Owner::Replay(_) | Owner::Session { .. } => Vec::new(),
        }
    }

    /// The delay before the next request, after one that failed.
    pub fn delay(&self) -> Option<Duration> {
        self.delay
    }

    /// Takes the report of the machine's own changes since the last call: outputs for calls whose
    /// tools gave none, and the removal of reasoning whose answer broke off. [`Ask::repairs`] has
    /// those of a request.
    pub fn take_repairs(&mut self) -> Vec<ReportedRepair> {
        std::mem::take(&mut self.repairs)
    }

    /// The next effect.
    pub fn step(&self) -> Step {
        if let Some(load) = self.load() {
            return Step::Load(load);
        }
        if let Some(start) = self.state.unchecked {
            return Step::Check(self.state.items[start..].to_vec());
        }
        let save = self.unsaved();
        if save != Save::default() {
            return Step::Save(save);
        }
        self.call_step().or_else(|| self.transfer_step()).unwrap_or_else(|| self.last_step())
    }

    /// The step for open calls, if there are any.
    fn call_step(&self) -> Option<Step> {
        let calls = &self.state.calls;
        let started = calls.items(CallStatus::Started);
        if !started.is_empty() {
            let is_stopping = matches!(self.state.stopping, Some(Stop::Now(_)));
            return Some(if is_stopping { Step::Cancel(started) } else { Step::Call(started) });
        }
        let unreviewed = calls.items(CallStatus::Unreviewed);
        if !unreviewed.is_empty() {
            return Some(Step::Review(unreviewed));
        }
        let pauses = self.pauses();
        (!pauses.is_empty()).then_some(Step::Wait(pauses))
    }

    /// The calls that need a decision, whether or not the run waits for it yet.
    pub(crate) fn pauses(&self) -> Vec<Pause> {
        self.state.calls.iter().flat_map(OpenCall::pauses).collect()
    }

    fn last_step(&self) -> Step {
        if !self.state.rejected.is_empty() {
            return Step::Remove(self.state.rejected.clone());
        }
        match &self.state.end {
            None => Step::Ask(self.request().into_ask(&self.state.agent, self.delay)),
            Some(end) => match self.undelivered() {
                outputs if outputs.is_empty() => Step::Done(end.clone()),
                outputs => Step::Deliver(outputs),
            },
        }
    }

    fn unsaved(&self) -> Save {
        let next = self.state.calls.next_to_start(self.roster.limits.parallel_calls);
        Save {
            items: self.state.items[self.state.saved..].to_vec(),
            started: match self.state.stopping {
                Some(Stop::Now(_)) => Vec::new(),
                _ => next.map(OpenCall::key).collect(),
            },
            paused: self.state.calls.unsaved_inner(),
        }
    }

    /// The state of the run once the data of [`Step::Save`] is stored, to store it too.
    pub fn state_after(&self, save: &Save) -> RunState {
        let mut after = Self {
            roster: Arc::clone(&self.roster),
            state: self.state(),
            is_loaded: self.is_loaded,
            prepared: Prepared::default(),
            ledger: CallLedger::default(),
            retries: self.retries.clone(),
            delay: None,
            awaits_answer: false,
            repairs: Vec::new(),
        };
        after.record_saved(save);
        after.state
    }

    /// Records that the data of [`Step::Save`] is stored.
    pub fn saved(&mut self, save: &Save) {
        self.record_saved(save);
        // The next request repeats these items, and so do those after it.
        if self.is_between_turns() && self.state.end.is_none() {
            self.keep_prepared();
        }
    }

    fn record_saved(&mut self, save: &Save) {
        self.state.saved += save.items.len();
        if let Owner::Session { history, .. } = &mut self.state.owner {
            history.stored += save.items.len();
        }
        self.state.calls.start(&save.started);
        self.state.calls.saved_inner(&save.paused);
        self.advance();
    }

    /// Marks the request of [`Step::Ask`] as sent. Call it right before the request.
    ///
    /// `returned` are the items that a filter chose; `None` sends the items of the step. If the
    /// server owns the state, items that the filter leaves out stay pending.
    pub fn ask(&mut self, returned: Option<Vec<Returned>>) -> Result<(), SendError> {
        self.keep_prepared();
        if let Owner::Server { tracker, asking } = &mut self.state.owner {
            let plan = tracker.plan();
            *asking = Some(match returned {
                Some(returned) => tracker.send_filtered(&plan, returned)?,
                None => tracker.send(&plan.occurrences())?,
            });
        }
        self.awaits_answer = true;
        Ok(())
    }

    /// Records that the request of [`Step::Ask`] was not sent.
    pub fn rewind_unsent(&mut self) {
        self.rewind(false);
    }

    /// Records that the request of [`Step::Ask`] failed. The next step asks again, or the run ends
    /// with `error`.
    ///
    /// If a conversation's server may have accepted the request, its items are listed first: so a
    /// request is never repeated while its effect is unknown.
    pub fn ask_failed(&mut self, failed: &FailedRequest, error: &str) {
        let is_uncertain = failed.failure == FailureKind::Broken;
        self.rewind(is_uncertain);
        match self.retries.decide(failed) {
            RetryDecision::After(delay) => self.delay = Some(delay),
            RetryDecision::GiveUp(reason) => {
                self.delay = None;
                self.stop(End::Failed { error: reason.describe(error) });
            }
        }
        self.advance();
    }

    /// Records the outcome of a started call.
    pub fn call_ended(&mut self, key: &CallKey, outcome: Outcome) {
        let Some(call) = self.state.calls.remove(key) else { return };
        match outcome {
            Outcome::Output(output) => self.take_output(&call, output),
            Outcome::Failed(text) => self.close(&call.item, &text),
            Outcome::Cancelled => self.close_unanswered(&call.item, ending::CANCELLED),
            Outcome::Tripped { guardrail, text } => {
                self.close(&call.item, &text);
                self.stop(End::Tripped { guardrail });
            }
            Outcome::Raised(reason) => {
                self.close(&call.item, &reason);
                let tool = tool_name(&call.item);
                self.stop(End::Failed { error: format!("the tool '{tool}' failed: {reason}") });
            }
        }
        self.advance();
    }

    /// Adds input to the run. The model is given it with the next request, after the outputs of
    /// open calls.
    pub fn stage(&mut self, item: Item) -> Result<(), RunFinished> {
        self.state.staged.stage(item)
    }

    /// The agent that made an open call; by default the one that answers next.
    pub fn agent_of(&self, call: &CallKey) -> &str {
        let open = self.state.calls.iter().find(|open| open.key() == *call);
        open.map_or(&self.state.agent, |open| &open.agent)
    }

    fn facts(&self) -> Option<&AgentFacts> {
        self.roster.agent(&self.state.agent)
    }
}

/// Whether a new server's state has no items.
fn is_empty(from: &Continuation) -> bool {
    matches!(from, Continuation::Chain { previous_response_id: None })
}

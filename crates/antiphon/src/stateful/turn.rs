//! One turn of a client, from the request to the end of its answer.

use std::time::Duration;

use bytes::Bytes;

use super::answer::AnswerReader;
use super::known_state::KnownState;
use super::local_ids::LocalIds;
use super::lock_wait::LockWait;
use super::memory::Memory;
use super::request::Request;
use super::{Action, Failure, Method, Preparation, Report, Rules, Step};
use crate::faults::StateError;
use crate::item::FingerprintKey;
use crate::reconcile::AdmissionMode;

/// An open turn: a [`Preparation`] whose known items are in the memory of a client, and the answer
/// to its request.
///
/// Only [`record_answer`](Self::record_answer), [`record_rejection`](Self::record_rejection) and
/// [`start`](Self::start) change [`step`](Self::step). Dropping a turn before its end aborts it.
#[derive(Debug)]
pub struct Turn {
    pub(super) stage: Stage,
    pub(super) preparation: Preparation,
    pub(super) report: Report,
    pub(super) state: KnownState,
    pub(super) key: FingerprintKey,
    pub(super) ids: LocalIds,
    pub(super) request: Request,
    pub(super) purpose: Purpose,
    pub(super) lock: LockWait,
}

/// The purpose of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// An answer of the model.
    Answer,
    /// Storing items in a conversation.
    Delivery,
}

/// The stage of a turn.
///
/// ```text
///   Preparing ---> Sending ---> Receiving ---> Over
///    |    ^          |
///    |    '----------|  rejected
///    '---> GivenUp <-'
/// ```
#[derive(Debug)]
pub(super) enum Stage {
    /// The preparation needs an answer of the server.
    Preparing,
    /// This request is ready, or has been sent.
    Sending(Bytes),
    /// The answer is being received.
    Receiving(AnswerReader),
    /// The caller gets the server's last error.
    GivenUp,
    /// The turn has ended.
    Over,
}

impl Turn {
    pub(super) fn new(
        (memory, key): (&Memory, FingerprintKey),
        account: &str,
        request: Request,
        purpose: Purpose,
    ) -> Self {
        let rules = Rules {
            key,
            mode: AdmissionMode::Client,
            style: request.style,
            is_strict: false,
            is_delivery: purpose == Purpose::Delivery,
            origin: None,
        };
        let (continues, input) = (request.continues.clone(), request.input.clone());
        let mut ids = LocalIds::new(memory.stamp());
        let preparation = Preparation::new(rules, continues, input, move |_| ids.issue());
        let mut turn = Self {
            stage: Stage::Preparing,
            preparation,
            report: Report::default(),
            state: KnownState::new(memory, account, &request.continues),
            key,
            ids: LocalIds::new(memory.stamp()),
            request,
            purpose,
            lock: LockWait::default(),
        };
        turn.advance();
        turn
    }

    /// The next step. It stays the same until the next result is passed to the turn.
    pub fn step(&self) -> Step {
        match (&self.stage, self.preparation.action()) {
            (Stage::Preparing, Action::Ask(path)) => Step::Ask { method: Method::Get, path },
            (Stage::Preparing, Action::Delete { path, .. }) => {
                Step::Ask { method: Method::Delete, path }
            }
            (Stage::Sending(body), _) => Step::Send { body: body.clone() },
            (Stage::GivenUp, _) => Step::GiveUp,
            (Stage::Preparing | Stage::Receiving(_) | Stage::Over, _) => Step::Nothing,
        }
    }

    /// The delay before the step, if any.
    ///
    /// A turn waits a few times, some seconds in all, for another open turn of its conversation:
    /// the server may not have noticed yet that the caller of that turn disconnected.
    pub fn wait(&self) -> Option<Duration> {
        self.lock.delay()
    }

    /// The omitted and repaired items of the request. Read it when [`step`](Self::step) is
    /// [`Step::Send`]; if the request is planned and sent again, the report changes.
    pub fn report(&self) -> Report {
        self.report.clone()
    }

    /// Takes the server's answer to a [`Step::Ask`]. For a request without an answer, pass status 0
    /// and an empty body.
    #[expect(clippy::needless_pass_by_value, reason = "the caller has no other use for it")]
    pub fn record_answer(&mut self, status: u16, body: Bytes) {
        if matches!(self.stage, Stage::Preparing) {
            self.lock.end();
            if let Some(deleted) = self.preparation.record_answer(status, &body) {
                self.state.erase(&deleted);
            }
            self.advance();
        }
    }

    /// Performs the actions of the preparation up to one of the server.
    pub(super) fn advance(&mut self) {
        let digest = || self.request.digest(self.key);
        loop {
            match self.preparation.action() {
                Action::Load(reason) => {
                    let known = self.state.load(reason, digest);
                    self.preparation.record_known(known);
                }
                Action::Find(id) => {
                    let known = self.state.find(id);
                    self.preparation.record_known(known);
                }
                Action::Store(listed) => {
                    let known = self.state.store(listed, digest);
                    self.preparation.record_known(Some(known));
                }
                Action::Wait if self.lock.wait() => self.preparation.resume(),
                Action::CheckDeletion => self.preparation.record_item_deletion(true),
                Action::Ask(_) => return self.stage = Stage::Preparing,
                Action::Delete { .. } => {
                    self.state.record_deletion();
                    return self.stage = Stage::Preparing;
                }
                Action::Send(_) => return self.send(),
                Action::Wait | Action::GiveUp(Failure::Rejected) => return self.give_up(),
                Action::GiveUp(_) => return self.give_up_unchanged(),
            }
        }
    }

    fn send(&mut self) {
        let Some(plan) = self.preparation.plan() else {
            return self.stage = Stage::Sending(self.request.unchanged());
        };
        self.report = plan.report.clone();
        self.report.resynced_after = self.preparation.fault().map(StateError::name);
        let body = match self.purpose {
            Purpose::Delivery if plan.sent.is_empty() => {
                self.state.end_unchanged();
                return self.stage = Stage::Over;
            }
            Purpose::Delivery => self.request.with_delivered(&plan.sent),
            Purpose::Answer => self.request.with_input_after(&plan.continue_from, &plan.sent),
        };
        self.state.record_attempt(plan, || self.request.digest(self.key));
        self.stage = Stage::Sending(body);
    }

    /// Ends the turn with the server's error. The state of the conversation is unknown.
    pub(super) fn give_up(&mut self) {
        self.state.end_unknown();
        self.stage = Stage::GivenUp;
    }

    /// Ends the turn with the server's error. It has changed nothing.
    pub(super) fn give_up_unchanged(&mut self) {
        self.state.end_unchanged();
        self.stage = Stage::GivenUp;
    }
}

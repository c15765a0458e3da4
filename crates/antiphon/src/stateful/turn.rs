//! One turn, from the request to the end of its answer.

use std::time::Duration;

use bytes::Bytes;

use super::answer::AnswerReader;
use super::course::Course;
use super::deletion::Deletion;
use super::history::History;
use super::known_state::KnownState;
use super::ledger::Version;
use super::local_ids::LocalIds;
use super::lock_wait::LockWait;
use super::memory::Memory;
use super::planning::Plan;
use super::request::{Continues, Request};
use super::sync::{ListedItems, Sync, Synced};
use super::{Method, Report, Step, unknown};
use crate::item::FingerprintKey;
use crate::provider_api::DetourSearch;

/// Statuses of a server that cannot list its items at the moment. The client has to repeat the
/// turn: without the list, items could be stored twice.
const NOT_NOW: [u16; 3] = [408, 429, 503];

/// An open turn.
///
/// Only [`record_answer`](Self::record_answer), [`record_rejection`](Self::record_rejection) and
/// [`start`](Self::start) change [`step`](Self::step). Dropping a turn before its end aborts it.
#[derive(Debug)]
pub struct Turn {
    pub(super) stage: Stage,
    pub(super) course: Course,
    pub(super) report: Report,
    pub(super) state: KnownState,
    pub(super) key: FingerprintKey,
    pub(super) ids: LocalIds,
    pub(super) request: Request,
    pub(super) purpose: Purpose,
    /// The body that the server rejected for its state. It is absent after a deletion, because the
    /// server may then accept the same request.
    pub(super) rejected: Option<Bytes>,
    pub(super) lock: LockWait,
    /// The number of failed list requests that are still repeated.
    retries: usize,
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
///            .----------------------------------------.
///            v                                        |
///   ---> Syncing ---> Deleting, Detouring ---> Sending ---- the course gives up
///    |       '--- not now ---> GivenUp            ^  |  '---> GivenUp
///    '-------------------------^------------------'  '------> Receiving ---> Over
/// ```
#[derive(Debug)]
pub(super) enum Stage {
    /// The server is asked for its items; for a conversation, since this version.
    Syncing(Sync, Option<Version>),
    /// Blocking items are being deleted.
    Deleting(Box<Deletion>),
    /// The server is asked for the items around the blocking ones of this history and plan.
    Detouring(Box<DetourSearch>, Box<(History, Plan)>),
    /// The request is ready, or has been sent.
    Sending(PlannedRequest),
    /// The answer is being received.
    Receiving(PlannedRequest, AnswerReader),
    /// The caller gets the server's last error.
    GivenUp,
    /// The turn has ended.
    Over,
}

/// A request to send.
#[derive(Debug)]
pub(super) struct PlannedRequest {
    pub(super) body: Bytes,
    /// `None` if the request is sent unchanged, because the state that it continues is unknown.
    pub(super) planned: Option<(PlanInputs, Plan)>,
}

/// The known state that a plan continues.
#[derive(Clone, Debug)]
pub(super) enum PlanInputs {
    /// The request continues nothing.
    Nothing,
    /// The server has this history.
    Known(History),
    /// The server does not list its items; this history has the inputs and outputs of its turns.
    Unlisted(History),
}

impl Turn {
    pub(super) fn new(
        (memory, key): (&Memory, FingerprintKey),
        account: &str,
        request: Request,
        purpose: Purpose,
    ) -> Self {
        let mut turn = Self {
            stage: Stage::Over,
            course: Course::default(),
            report: Report::default(),
            state: KnownState::new(memory, account, &request.continues),
            key,
            ids: LocalIds::new(memory.stamp()),
            request,
            purpose,
            rejected: None,
            lock: LockWait::default(),
            retries: 1,
        };
        turn.begin();
        turn
    }

    /// The next step. It stays the same until the next result is passed to the turn.
    pub fn step(&self) -> Step {
        let get = |path| Step::Ask { method: Method::Get, path, body: None };
        match &self.stage {
            Stage::Syncing(sync, _) => get(sync.path()),
            Stage::Deleting(deletion) => deletion.step().unwrap_or(Step::Nothing),
            Stage::Detouring(search, _) => get(search.path()),
            Stage::Sending(PlannedRequest { body, .. }) => Step::Send { body: body.clone() },
            Stage::GivenUp => Step::GiveUp,
            Stage::Receiving(..) | Stage::Over => Step::Nothing,
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

    fn begin(&mut self) {
        match (self.state.enter(), &self.request.continues) {
            (_, Continues::Nothing) => self.plan(PlanInputs::Nothing),
            // The conversation has more items than are known.
            (Some(history), Continues::Conversation(_))
                if unknown::in_input(&self.request.input, &history) =>
            {
                self.state.end_unchanged();
                self.sync();
            }
            (Some(history), _) => self.plan(PlanInputs::Known(history)),
            (None, _) => self.sync(),
        }
    }

    /// Asks the server for its items.
    pub(super) fn sync(&mut self) {
        let sync = Sync::new(&self.request.continues, self.request.has_images());
        match sync {
            Some(sync) => self.stage = Stage::Syncing(sync, self.state.version()),
            None => self.send_unchanged(),
        }
    }

    /// Takes the server's answer to a [`Step::Ask`]. For a request without an answer, pass status 0
    /// and an empty body.
    #[expect(clippy::needless_pass_by_value, reason = "the caller has no other use for it")]
    pub fn record_answer(&mut self, status: u16, body: Bytes) {
        self.lock.end();
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Syncing(..) if NOT_NOW.contains(&status) => self.give_up_unchanged(),
            Stage::Syncing(sync, since) if status >= 500 && self.retries > 0 => {
                self.retries -= 1;
                self.stage = Stage::Syncing(sync, since);
            }
            Stage::Syncing(sync, since) => {
                match sync.take(status, &body, |id| self.state.response(id)) {
                    Synced::More(sync) => self.stage = Stage::Syncing(sync, since),
                    Synced::Items(items) => self.plan_listed(items, since),
                    Synced::NotFound => self.unless_rejected(Self::send_unchanged),
                    Synced::NotListed => self.unless_rejected(Self::plan_unlisted),
                }
            }
            Stage::Deleting(mut deletion) => {
                deletion.take(status, &body);
                match deletion.step() {
                    Some(_) => self.stage = Stage::Deleting(deletion),
                    None => self.plan_after_deletion(*deletion),
                }
            }
            Stage::Detouring(search, planned) => {
                self.search_detour(*search, planned, (status, &body));
            }
            other => self.stage = other,
        }
    }

    fn plan_listed(&mut self, items: ListedItems, since: Option<Version>) {
        self.course.record_sync();
        let is_underway = items.is_underway;
        let listed = items.into_history(self.key, &mut self.ids);
        let history = self.state.enter_listed(listed, since, !is_underway);
        self.plan(PlanInputs::Known(history));
    }

    /// Plans for a server that does not list its items.
    fn plan_unlisted(&mut self) {
        let received = self.state.enter_unlisted();
        self.plan(PlanInputs::Unlisted(received));
    }
}

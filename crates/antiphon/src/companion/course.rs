//! The course of a turn: its state machine, from the first question to the end of the answer.

use std::sync::Arc;

use bytes::Bytes;

use super::admission::LocalIds;
use super::answer::Answer;
use super::around::{Around, Found};
use super::deleting::Deleting;
use super::ending::Left;
use super::history::History;
use super::learning::{Held, Learning, Learnt};
use super::ledger::Version;
use super::line::Line;
use super::memory::{Entered, Memory};
use super::planning::Plan;
use super::recent::Name;
use super::request::{GoesOn, Request};
use super::underway::Underway;
use super::walk::Walk;
use super::{Report, unknown};
use crate::faults::StateError;
use crate::item::FingerprintKey;

/// Statuses of a server that cannot list its items at the moment. The client has to repeat the
/// turn: without the list, items could be stored twice.
const NOT_NOW: [u16; 3] = [408, 429, 503];

/// The state of a turn.
///
/// ```text
///            .--------------------------------------------.
///            v                                            |
///   ---> Learning ---> Deleting, GoingAround ---> Sending ---- first state error
///    |       '--- not now ---> GivenUp              ^   |  '---> GivenUp
///    '-------------------------^--------------------'   '------> Hearing ---> Over
/// ```
#[derive(Debug)]
pub(super) struct Course {
    pub(super) stage: Stage,
    pub(super) report: Report,
    pub(super) memory: Memory,
    pub(super) key: FingerprintKey,
    pub(super) ids: LocalIds,
    pub(super) request: Request,
    pub(super) purpose: Purpose,
    /// The open turn of its conversation.
    pub(super) underway: Option<Underway>,
    /// Whether the server has listed its items.
    pub(super) has_learnt: bool,
    /// Whether a failed question was repeated.
    has_insisted: bool,
    /// Whether the turn has tried to remove blocking items.
    pub(super) has_cleared: bool,
    pub(super) refusal: Option<Refusal>,
    pub(super) line: Line,
    account: Arc<str>,
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
#[derive(Debug)]
pub(super) enum Stage {
    /// The server is asked for its items; for a conversation, since this version.
    Learning(Box<Learning>, Option<Version>),
    /// Blocking items are being deleted.
    Deleting(Box<Deleting>),
    /// The server is asked for the items around the blocking ones.
    GoingAround(Box<Around>),
    /// The request is ready, or has been sent.
    Sending(Sending),
    /// The answer is being received.
    Hearing(Sending, Answer),
    /// The caller gets the server's last error.
    GivenUp,
    /// The turn has ended.
    Over,
}

/// A request to send.
#[derive(Debug)]
pub(super) struct Sending {
    pub(super) body: Bytes,
    /// `None` if the request is sent unchanged, because the state that it continues is unknown.
    pub(super) planned: Option<(Basis, Plan)>,
}

/// The basis of a plan.
#[derive(Clone, Debug)]
pub(super) enum Basis {
    /// The request continues nothing.
    Nothing,
    /// The server has this history.
    Held(History),
    /// The server does not list its items; this history has the inputs and outputs of its turns.
    Untold(History),
}

/// The first state error of a turn.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) fault: StateError,
    pub(super) body: Bytes,
    /// Whether items were deleted since.
    pub(super) has_deleted: bool,
}

impl Course {
    pub(super) fn begin(
        (memory, key): (&Memory, FingerprintKey),
        account: &str,
        request: Request,
        purpose: Purpose,
    ) -> Self {
        let mut course = Self {
            stage: Stage::Over,
            report: Report::default(),
            memory: memory.clone(),
            key,
            ids: LocalIds::of(memory.stamp()),
            request,
            purpose,
            underway: None,
            has_learnt: false,
            has_insisted: false,
            has_cleared: false,
            refusal: None,
            line: Line::default(),
            account: account.into(),
        };
        course.open();
        course
    }

    fn open(&mut self) {
        match &self.request.goes_on {
            GoesOn::FromNothing => self.plan(Basis::Nothing),
            GoesOn::FromWhatNobodyKnows => self.send_as_it_came(),
            GoesOn::Response(id) => match self.memory.response(&self.name(id)) {
                Some(history) => self.plan(Basis::Held(history)),
                None => self.ask(),
            },
            GoesOn::Conversation(id) => match self.memory.enter(&self.name(id)) {
                Entered::Known(underway, history) => self.enter(underway, history),
                Entered::Unknown => self.ask(),
            },
        }
    }

    /// Plans on the known items of the conversation, unless the input shows that it has more.
    fn enter(&mut self, underway: Underway, history: History) {
        if unknown::in_input(&self.request.input, &history) {
            underway.untouched();
            return self.ask();
        }
        self.underway = Some(underway);
        self.plan(Basis::Held(history));
    }

    /// Asks the server for its items.
    pub(super) fn ask(&mut self) {
        let has_images = self.request.has_images();
        let asked = match &self.request.goes_on {
            GoesOn::Conversation(id) => {
                let since = self.memory.version(&self.name(id));
                Learning::of_conversation(id, has_images).map(|learning| (learning, Some(since)))
            }
            GoesOn::Response(id) => {
                Walk::from(id, has_images).map(|walk| (Learning::Chain(walk), None))
            }
            GoesOn::FromNothing | GoesOn::FromWhatNobodyKnows => None,
        };
        match asked {
            Some((learning, since)) => self.stage = Stage::Learning(Box::new(learning), since),
            None => self.send_as_it_came(),
        }
    }

    pub(super) fn answered(&mut self, status: u16, body: &Bytes) {
        self.line.is_over();
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Learning(..) if NOT_NOW.contains(&status) => self.give_up(Left::Nothing),
            Stage::Learning(learning, since) if status >= 500 && !self.has_insisted => {
                self.has_insisted = true;
                self.stage = Stage::Learning(learning, since);
            }
            Stage::Learning(learning, since) => {
                let known = |id: &str| self.memory.response(&self.name(id));
                match learning.answered(status, body, known) {
                    Learnt::NotYet(more) => self.stage = Stage::Learning(more, since),
                    Learnt::All(held) => self.learnt(held, since),
                    Learnt::NoSuch => self.unless_refused(Self::send_as_it_came),
                    Learnt::Untold => self.unless_refused(Self::plan_untold),
                }
            }
            Stage::Deleting(mut deleting) => {
                deleting.answered(status, body);
                match deleting.step() {
                    Some(_) => self.stage = Stage::Deleting(deleting),
                    None => self.deleted(*deleting),
                }
            }
            Stage::GoingAround(around) => match around.answered(status, body) {
                Found::NotYet(around) => self.stage = Stage::GoingAround(around),
                Found::Over(around, footing) => self.found_around(*around, footing),
            },
            other => self.stage = other,
        }
    }

    fn learnt(&mut self, held: Held, since: Option<Version>) {
        self.has_learnt = true;
        let is_underway = held.is_underway;
        let told = held.history(self.key, &mut self.ids);
        let history = match (&self.request.goes_on, since) {
            (GoesOn::Conversation(id), Some(since)) => {
                let (underway, history) = self.memory.learnt(&self.name(id), since, told);
                self.underway = Some(underway);
                history
            }
            (GoesOn::Response(id), _) if !is_underway => {
                self.memory.know_response(&self.name(id), told.clone());
                told
            }
            _ => told,
        };
        self.plan(Basis::Held(history));
    }

    /// Plans for a server that does not list its items.
    fn plan_untold(&mut self) {
        let mut heard = History::default();
        if let GoesOn::Conversation(id) = &self.request.goes_on {
            let (underway, history) = self.memory.enter_untold(&self.name(id));
            (self.underway, heard) = (Some(underway), history);
        }
        self.plan(Basis::Untold(heard));
    }

    pub(super) fn name(&self, id: &str) -> Name {
        Name::of(&self.account, id)
    }
}

//! The course of a turn: what is known, what is asked, what is sent, and what that leaves.

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

/// What a server answers that tells in a moment what it holds. Its client asks for the turn again: what
/// was sent on a guess may be held twice.
const NOT_NOW: [u16; 3] = [408, 429, 503];

/// A turn on its way.
///
/// ```text
///            .--------------------------------------------.
///            v                                            |
///   ---> Learning ---> Deleting, GoingAround ---> Sending ---- refused for the state, the first time
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
    /// The turn of its conversation, while it is on its way.
    pub(super) underway: Option<Underway>,
    /// Whether the server was asked what it holds.
    pub(super) has_learnt: bool,
    /// Whether a question that failed was put once more.
    has_insisted: bool,
    /// Whether it was tried to get rid of what is in the way.
    pub(super) has_cleared: bool,
    pub(super) refusal: Option<Refusal>,
    pub(super) line: Line,
    account: Arc<str>,
}

/// What a turn is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// An answer of the model's.
    Answer,
    /// Items are to be held.
    Delivery,
}

/// Where a turn is.
#[derive(Debug)]
pub(super) enum Stage {
    /// What is held is being asked for; of a conversation, since this version.
    Learning(Box<Learning>, Option<Version>),
    /// What is in the way is being deleted.
    Deleting(Box<Deleting>),
    /// What stands around what is in the way is being asked for.
    GoingAround(Box<Around>),
    /// The request is to be sent, or was.
    Sending(Sending),
    /// Its answer is being heard.
    Hearing(Sending, Answer),
    /// The server has the last word.
    GivenUp,
    /// Nothing is left to be done.
    Over,
}

/// A request that is sent.
#[derive(Debug)]
pub(super) struct Sending {
    pub(super) body: Bytes,
    /// `None` where it goes as it came, and nothing is known of what it goes on from.
    pub(super) planned: Option<(Basis, Plan)>,
}

/// What a plan rests on.
#[derive(Clone, Debug)]
pub(super) enum Basis {
    /// The request says all.
    Nothing,
    /// The server holds this.
    Held(History),
    /// The server does not tell what it holds; of its turns this was heard.
    Untold(History),
}

/// What was refused the first time.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) fault: StateError,
    pub(super) body: Bytes,
    /// Whether something was deleted since.
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

    /// All is known of the conversation, unless the input shows that there is more.
    fn enter(&mut self, underway: Underway, history: History) {
        if unknown::in_input(&self.request.input, &history) {
            underway.untouched();
            return self.ask();
        }
        self.underway = Some(underway);
        self.plan(Basis::Held(history));
    }

    /// Asks the server what it holds.
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

    /// The server does not tell what it holds.
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

//! The course of a turn: what is known, what is asked, what is sent, and what that leaves.

use std::sync::Arc;

use bytes::Bytes;

use super::admission::LocalIds;
use super::answer::{Answer, Heard, Tracer};
use super::deleting::Deleting;
use super::history::History;
use super::learning::{Held, Learning, Learnt};
use super::ledger::Version;
use super::memory::{Entered, Memory, Underway};
use super::objections::Objections;
use super::planning::{Plan, Planner};
use super::recent::Name;
use super::request::{GoesOn, Request};
use super::said::Said;
use super::stuck::without;
use super::walk::Walk;
use super::{Report, unknown};
use crate::faults::StateError;
use crate::item::{FingerprintKey, Item};

/// A turn on its way.
///
/// ```text
///            .------------------------------------.
///            v                                    |
///   ---> Learning ---> Deleting ---> Sending ---- refused for the state, the first time
///    '-----------------------^-------^   |  '---> GivenUp
///                                        '------> Hearing ---> Over
/// ```
#[derive(Debug)]
pub(super) struct Course {
    pub(super) stage: Stage,
    pub(super) report: Report,
    memory: Memory,
    key: FingerprintKey,
    account: Arc<str>,
    request: Request,
    purpose: Purpose,
    /// The turn of its conversation, while it is on its way.
    underway: Option<Underway>,
    /// What the server was asked for anew.
    has_learnt: bool,
    /// Whether deletions were tried.
    has_deleted: bool,
    refusal: Option<Refusal>,
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
    planned: Option<(Basis, Plan)>,
}

/// What a plan rests on.
#[derive(Clone, Debug)]
enum Basis {
    /// The request says all.
    Nothing,
    /// The server holds this.
    Held(History),
    /// The server does not tell what it holds.
    Untold,
}

/// What was refused the first time.
#[derive(Debug)]
struct Refusal {
    fault: StateError,
    sent: Vec<Item>,
    has_deleted: bool,
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
            account: account.into(),
            request,
            purpose,
            underway: None,
            has_learnt: false,
            has_deleted: false,
            refusal: None,
        };
        course.open();
        course
    }

    fn open(&mut self) {
        match self.request.goes_on.clone() {
            GoesOn::FromNothing => self.plan(Basis::Nothing),
            GoesOn::FromWhatNobodyKnows => self.send_as_it_came(),
            GoesOn::Response(id) => match self.memory.response(&self.name(&id)) {
                Some(history) => self.plan(Basis::Held(history)),
                None => self.ask(),
            },
            GoesOn::Conversation(id) => match self.memory.enter(&self.name(&id)) {
                Entered::Known(underway, history)
                    if !unknown::in_input(&self.request.input, &history) =>
                {
                    self.underway = Some(underway);
                    self.plan(Basis::Held(history));
                }
                Entered::Known(underway, _) => {
                    underway.untouched();
                    self.ask();
                }
                Entered::Unknown => self.ask(),
            },
        }
    }

    /// Asks the server what it holds.
    fn ask(&mut self) {
        let asked = match &self.request.goes_on {
            GoesOn::Conversation(id) => {
                let since = self.memory.version(&self.name(id));
                Learning::of_conversation(id).map(|learning| (learning, Some(since)))
            }
            GoesOn::Response(id) => Walk::from(id).map(|walk| (Learning::Chain(walk), None)),
            GoesOn::FromNothing | GoesOn::FromWhatNobodyKnows => None,
        };
        match asked {
            Some((learning, since)) => self.stage = Stage::Learning(Box::new(learning), since),
            None => self.send_as_it_came(),
        }
    }

    pub(super) fn answered(&mut self, status: u16, body: &Bytes) {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Learning(learning, since) => {
                let known = |id: &str| self.memory.response(&self.name(id));
                match learning.answered(status, body, known) {
                    Learnt::NotYet(more) => self.stage = Stage::Learning(Box::new(more), since),
                    Learnt::All(held) => self.learnt(held, since),
                    Learnt::NoSuch => self.give_up_or(Self::send_as_it_came),
                    Learnt::Untold => self.give_up_or(Self::plan_untold),
                }
            }
            Stage::Deleting(mut deleting) => {
                deleting.answered(status, body);
                match deleting.step() {
                    Some(_) => self.stage = Stage::Deleting(deleting),
                    None => self.deleted(*deleting),
                }
            }
            other => self.stage = other,
        }
    }

    fn learnt(&mut self, held: Held, since: Option<Version>) {
        self.has_learnt = true;
        let is_underway = held.is_underway;
        let told = held.history(self.key, &mut LocalIds::of(self.memory.stamp()));
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
        if let GoesOn::Conversation(id) = &self.request.goes_on {
            self.underway = Some(self.memory.enter_unknown(&self.name(id)));
        }
        self.plan(Basis::Untold);
    }

    /// Decides what is sent, and deletes first what is in its way.
    fn plan(&mut self, basis: Basis) {
        let plan = self.planned(&basis);
        let GoesOn::Conversation(id) = &self.request.goes_on else {
            return self.send(basis, plan);
        };
        let Basis::Held(history) = &basis else { return self.send(basis, plan) };
        if self.has_deleted || plan.stuck.is_nothing() {
            return self.send(basis, plan);
        }
        if !plan.stuck.is_named() && !self.has_learnt {
            if let Some(underway) = self.underway.take() {
                underway.untouched();
            }
            return self.ask();
        }
        self.has_deleted = true;
        match Deleting::of(id, history.clone(), plan) {
            Ok(deleting) => {
                self.underway.iter_mut().for_each(Underway::deletes);
                self.stage = Stage::Deleting(Box::new(deleting));
            }
            Err(plan) => self.send(basis, plan),
        }
    }

    fn planned(&self, basis: &Basis) -> Plan {
        let none = Objections::default();
        let objections = self.refusal.as_ref().map(|refusal| Objections::to(&refusal.fault));
        let planner = Planner {
            input: &self.request.input,
            objections: objections.as_ref().unwrap_or(&none),
            key: self.key,
            ids: LocalIds::of(self.memory.stamp()),
        };
        match (basis, self.purpose) {
            (Basis::Nothing, _) => planner.whole(),
            (Basis::Untold, _) => planner.by_kind(),
            (Basis::Held(history), Purpose::Answer) => planner.behind(history),
            (Basis::Held(history), Purpose::Delivery) => planner.delivered(history),
        }
    }

    /// What could be deleted is.
    fn deleted(&mut self, deleting: Deleting) {
        let Deleting { deleted, history, plan, .. } = deleting;
        if deleted.is_empty() {
            return self.send(Basis::Held(history), plan);
        }
        let basis = Basis::Held(without(&history, &deleted));
        let mut anew = self.planned(&basis);
        plan.stuck.report(&deleted, &self.request.input, &mut anew.report);
        if let Some(refusal) = &mut self.refusal {
            refusal.has_deleted = true;
        }
        self.send(basis, anew);
    }

    fn send(&mut self, basis: Basis, plan: Plan) {
        if let Some(refusal) = &self.refusal {
            let is_other = refusal.has_deleted || plan.sends_other_than(&refusal.sent);
            if !is_other || plan.is_emptied(&self.request.input) {
                return self.give_up(Left::Nothing);
            }
        }
        self.report = plan.report.clone();
        self.report.relearned = self.refusal.as_ref().map(|refusal| refusal.fault.name());
        if self.purpose == Purpose::Delivery && plan.sent.is_empty() {
            self.release(Left::Nothing);
            self.stage = Stage::Over;
            return;
        }
        let body = match self.purpose {
            Purpose::Answer => self.request.with_input(&plan.sent),
            Purpose::Delivery => self.request.with_delivered(&plan.sent),
        };
        self.stage = Stage::Sending(Sending { body, planned: Some((basis, plan)) });
    }

    fn send_as_it_came(&mut self) {
        let body = match self.purpose {
            Purpose::Answer => self.request.with_input(&self.request.input),
            Purpose::Delivery => self.request.with_delivered(&self.request.input),
        };
        self.stage = Stage::Sending(Sending { body, planned: None });
    }

    pub(super) fn refused(&mut self, status: u16, body: &Bytes) {
        let sending = match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Sending(sending) => sending,
            other => return self.stage = other,
        };
        let fault = match status {
            400..=499 => Said::in_body(body).state_error(),
            _ => None,
        };
        match (fault, sending.planned) {
            (Some(StateError::UnknownResponse), _) => {
                self.forget();
                self.give_up(Left::Doubt);
            }
            (Some(fault), Some((basis, plan)))
                if self.refusal.is_none() && fault != StateError::Locked =>
            {
                let (sent, has_deleted) = (plan.sent, false);
                self.refusal = Some(Refusal { fault, sent, has_deleted });
                self.otherwise(basis);
            }
            _ if WHATEVER_IS_HELD.contains(&status) => self.give_up(Left::Nothing),
            _ => self.give_up(Left::Doubt),
        }
    }

    /// The same turn behind what the server says that it holds.
    fn otherwise(&mut self, basis: Basis) {
        match basis {
            Basis::Held(_) => {
                self.release(Left::Doubt);
                self.forget();
                self.has_deleted = false;
                self.ask();
            }
            Basis::Nothing | Basis::Untold => self.plan(basis),
        }
    }

    fn give_up_or(&mut self, go_on: impl FnOnce(&mut Self)) {
        match self.refusal {
            Some(_) => self.give_up(Left::Doubt),
            None => go_on(self),
        }
    }

    fn give_up(&mut self, left: Left) {
        self.release(left);
        self.stage = Stage::GivenUp;
    }

    pub(super) fn heard(&mut self, bytes: &[u8]) {
        let Stage::Hearing(_, answer) = &mut self.stage else { return };
        let mut ids = LocalIds::of(self.memory.stamp());
        let heard = answer.heard(bytes, &mut Tracer { key: self.key, ids: &mut ids });
        if let Some(heard) = heard {
            self.conclude(heard);
        }
    }

    pub(super) fn ended(&mut self) {
        if let Stage::Hearing(_, answer) = &mut self.stage {
            let mut ids = LocalIds::of(self.memory.stamp());
            let mut tracer = Tracer { key: self.key, ids: &mut ids };
            let heard = match self.purpose {
                Purpose::Answer => answer.ended(&mut tracer),
                Purpose::Delivery => {
                    answer.take_whole().and_then(|body| Heard::of_list(&body, &mut tracer))
                }
            };
            if let Some(heard) = heard {
                return self.conclude(heard);
            }
        }
        self.release(Left::Doubt);
        self.stage = Stage::Over;
    }

    /// The answer told its end.
    fn conclude(&mut self, heard: Heard) {
        let stage = std::mem::replace(&mut self.stage, Stage::Over);
        let Stage::Hearing(Sending { planned: Some((basis, plan)), .. }, _) = stage else {
            return self.release(Left::Doubt);
        };
        let before = match basis {
            Basis::Held(history) => history,
            Basis::Nothing => History::default(),
            Basis::Untold => return self.release(Left::Doubt),
        };
        if !heard.is_whole || plan.leaves_doubt {
            return self.release(Left::Doubt);
        }
        let sent = match self.purpose {
            Purpose::Answer => plan.fresh,
            Purpose::Delivery if heard.output.len() == plan.fresh.len() => Vec::new(),
            Purpose::Delivery => return self.release(Left::Doubt),
        };
        let history = before.with(sent.into_iter().chain(heard.output));
        if let Some(id) = heard.id.filter(|_| self.request.stores) {
            self.memory.know_response(&self.name(&id), history.clone());
        }
        self.release(Left::All(history));
    }

    /// The turn is not on its way any more.
    fn release(&mut self, left: Left) {
        let Some(underway) = self.underway.take() else { return };
        match left {
            Left::Nothing => underway.untouched(),
            Left::Doubt => drop(underway),
            Left::All(history) => underway.holds(history),
        }
    }

    /// What was known of the response that the turn goes on from is not so.
    fn forget(&self) {
        if let GoesOn::Response(id) = &self.request.goes_on {
            self.memory.forget_response(&self.name(id));
        }
    }

    fn name(&self, id: &str) -> Name {
        Name::of(&self.account, id)
    }
}

/// What a turn left where it went on.
enum Left {
    Nothing,
    Doubt,
    All(History),
}

/// What a server refuses whatever it holds. What else it refuses may show that it holds something else
/// than is known.
const WHATEVER_IS_HELD: [u16; 4] = [401, 403, 413, 429];

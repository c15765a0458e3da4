//! Handles the results of a sent request: errors, answers and aborts.

use bytes::Bytes;

use super::answer::{Answer, Heard, Tracer};
use super::course::{Basis, Course, Purpose, Refusal, Sending, Stage};
use super::history::History;
use super::request::GoesOn;
use super::said::Said;
use super::underway::Underway;
use crate::faults::StateError;

/// The state of the conversation or chain after a turn without an answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Left {
    /// Unchanged.
    Nothing,
    /// Unknown.
    Doubt,
}

/// Statuses of errors that do not depend on the server's items. Any other error may show that its
/// items differ from the known ones.
const WHATEVER_IS_HELD: [u16; 4] = [401, 403, 413, 429];

/// A status that leaves open whether the server has the request: a proxy in front of it timed out.
const TIMED_OUT: u16 = 408;

impl Course {
    pub(super) fn refused(&mut self, status: u16, body: &Bytes) {
        let sending = match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Sending(sending) => sending,
            other => return self.stage = other,
        };
        let is_clients = (400..500).contains(&status);
        if is_clients && status != TIMED_OUT {
            self.underway.iter_mut().for_each(Underway::is_refused);
        }
        let fault = is_clients.then(|| Said::in_body(body).state_error()).flatten();
        self.line.is_over();
        match fault {
            Some(StateError::Locked) if self.line.wait() => self.behind_another(sending),
            Some(StateError::Locked) => self.give_up(Left::Doubt),
            Some(StateError::UnknownResponse) => {
                self.forget();
                self.give_up(Left::Doubt);
            }
            Some(fault) if self.refusal.is_none() => self.otherwise(fault, sending),
            None if WHATEVER_IS_HELD.contains(&status) => self.give_up(Left::Nothing),
            _ => self.give_up(Left::Doubt),
        }
    }

    /// Plans the same turn again after a state error, if necessary with the server's current items.
    fn otherwise(&mut self, fault: StateError, sending: Sending) {
        let Sending { body, planned: Some((basis, _)) } = sending else {
            return self.give_up(Left::Doubt);
        };
        // The server has just listed its items, so only the missing item is left out.
        let is_known = self.has_learnt && matches!(fault, StateError::UnknownItem(_));
        self.refusal = Some(Refusal { fault, body, has_deleted: false });
        match basis {
            Basis::Held(_) if is_known => self.plan(basis),
            Basis::Held(_) => {
                self.release(Left::Doubt);
                self.forget();
                self.has_cleared = false;
                self.ask();
            }
            Basis::Nothing | Basis::Untold(_) => self.plan(basis),
        }
    }

    /// Sends the same turn again when the other open turn of the conversation may have ended. The
    /// server's items are asked for before that.
    fn behind_another(&mut self, sending: Sending) {
        if !matches!(sending.planned, Some((Basis::Held(_), _))) {
            return self.stage = Stage::Sending(sending);
        }
        self.release(Left::Doubt);
        (self.has_learnt, self.has_cleared) = (false, false);
        self.ask();
    }

    /// Continues, unless the request was rejected before: then its caller gets that error.
    pub(super) fn unless_refused(&mut self, go_on: impl FnOnce(&mut Self)) {
        match self.refusal {
            Some(_) => self.give_up(Left::Doubt),
            None => go_on(self),
        }
    }

    pub(super) fn give_up(&mut self, left: Left) {
        self.release(left);
        self.stage = Stage::GivenUp;
    }

    pub(super) fn begun(&mut self, is_event_stream: bool) {
        self.line.is_over();
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Sending(sending) => {
                if self.request.in_background {
                    self.underway.iter_mut().for_each(Underway::is_taken);
                }
                self.stage = Stage::Hearing(sending, Answer::begun(is_event_stream));
            }
            other => self.stage = other,
        }
    }

    pub(super) fn heard(&mut self, bytes: &[u8]) {
        let Stage::Hearing(_, answer) = &mut self.stage else { return };
        let heard = answer.heard(bytes, &mut Tracer { key: self.key, ids: &mut self.ids });
        if let Some(heard) = heard {
            self.conclude(heard);
        }
    }

    pub(super) fn ended(&mut self) {
        match self.heard_to_its_end() {
            Some(heard) => self.conclude(heard),
            None if matches!(self.stage, Stage::GivenUp) => {}
            None => {
                self.release(Left::Doubt);
                self.stage = Stage::Over;
            }
        }
    }

    fn heard_to_its_end(&mut self) -> Option<Heard> {
        let Stage::Hearing(_, answer) = &mut self.stage else { return None };
        let mut tracer = Tracer { key: self.key, ids: &mut self.ids };
        match self.purpose {
            Purpose::Answer => answer.ended(&mut tracer),
            Purpose::Delivery => Heard::of_list(&answer.take_whole()?, &mut tracer),
        }
    }

    /// Records the result of an answer.
    fn conclude(&mut self, heard: Heard) {
        let id = heard.id.clone().filter(|_| self.request.stores);
        let stage = std::mem::replace(&mut self.stage, Stage::Over);
        let Some((history, is_all)) = self.left_by(stage, heard) else {
            return self.release(Left::Doubt);
        };
        let is_known = match self.underway.take() {
            Some(underway) if is_all => underway.holds(history.clone()),
            Some(underway) => {
                underway.holds_at_least(history.clone());
                false
            }
            None => is_all,
        };
        if let Some(id) = id.filter(|_| is_known) {
            self.memory.know_response(&self.name(&id), history);
        }
    }

    /// The history after an answer with this result, and whether it is complete; `None` if the
    /// history is unknown.
    fn left_by(&self, stage: Stage, heard: Heard) -> Option<(History, bool)> {
        let Stage::Hearing(sending, _) = stage else { return None };
        let (basis, plan) = sending.planned.filter(|_| heard.is_whole)?;
        let (before, is_all) = match basis {
            Basis::Held(history) => (history, true),
            Basis::Nothing => (History::default(), true),
            Basis::Untold(history) => (history, false),
        };
        let sent = match self.purpose {
            Purpose::Answer => plan.fresh,
            Purpose::Delivery if heard.output.len() == plan.fresh.len() => Vec::new(),
            Purpose::Delivery => return None,
        };
        let held = || (before.with(sent.into_iter().chain(heard.output)), is_all);
        (!plan.leaves_doubt).then(held)
    }

    /// Closes the turn of the conversation.
    pub(super) fn release(&mut self, left: Left) {
        let Some(underway) = self.underway.take() else { return };
        match left {
            Left::Nothing => underway.untouched(),
            Left::Doubt => drop(underway),
        }
    }

    /// Drops the known history of the response that the turn continues: it was wrong.
    fn forget(&self) {
        if let GoesOn::Response(id) = &self.request.goes_on {
            self.memory.forget_response(&self.name(id));
        }
    }
}

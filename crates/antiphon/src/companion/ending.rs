//! What becomes of a request that was sent.

use bytes::Bytes;

use super::admission::LocalIds;
use super::answer::{Answer, Heard, Tracer};
use super::course::{Basis, Course, Purpose, Refusal, Sending, Stage};
use super::history::History;
use super::request::GoesOn;
use super::said::Said;
use crate::faults::StateError;

/// What a turn left where it went on.
pub(super) enum Left {
    /// What was there.
    Nothing,
    /// Nobody knows.
    Doubt,
    /// This is all that there is now.
    All(History),
}

/// What a server refuses whatever it holds. What else it refuses may show that it holds something else
/// than is known.
const WHATEVER_IS_HELD: [u16; 4] = [401, 403, 413, 429];

impl Course {
    pub(super) fn refused(&mut self, status: u16, body: &Bytes) {
        let sending = match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Sending(sending) => sending,
            other => return self.stage = other,
        };
        let is_clients = (400..500).contains(&status);
        let fault = is_clients.then(|| Said::in_body(body).state_error()).flatten();
        match fault {
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

    /// The same turn behind what the server says that it holds.
    fn otherwise(&mut self, fault: StateError, sending: Sending) {
        let Sending { body, planned: Some((basis, _)) } = sending else {
            return self.give_up(Left::Doubt);
        };
        self.refusal = Some(Refusal { fault, body, has_deleted: false });
        match basis {
            Basis::Held(_) => {
                self.release(Left::Doubt);
                self.forget();
                self.has_cleared = false;
                self.ask();
            }
            Basis::Nothing | Basis::Untold => self.plan(basis),
        }
    }

    /// Goes on, unless the request was refused already: that is what its caller is told.
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
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Sending(sending) => {
                self.stage = Stage::Hearing(sending, Answer::begun(is_event_stream));
            }
            other => self.stage = other,
        }
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
        let mut ids = LocalIds::of(self.memory.stamp());
        let mut tracer = Tracer { key: self.key, ids: &mut ids };
        match self.purpose {
            Purpose::Answer => answer.ended(&mut tracer),
            Purpose::Delivery => Heard::of_list(&answer.take_whole()?, &mut tracer),
        }
    }

    /// The answer told its end.
    fn conclude(&mut self, heard: Heard) {
        let stage = std::mem::replace(&mut self.stage, Stage::Over);
        let left = match stage {
            Stage::Hearing(sending, _) => self.left_by(sending, heard),
            _ => Left::Doubt,
        };
        self.release(left);
    }

    /// What a request left that was answered so.
    fn left_by(&self, sending: Sending, heard: Heard) -> Left {
        let Some((basis, plan)) = sending.planned else { return Left::Doubt };
        let before = match basis {
            Basis::Held(history) => history,
            Basis::Nothing => History::default(),
            Basis::Untold => return Left::Doubt,
        };
        if !heard.is_whole || plan.leaves_doubt {
            return Left::Doubt;
        }
        let sent = match self.purpose {
            Purpose::Answer => plan.fresh,
            Purpose::Delivery if heard.output.len() == plan.fresh.len() => Vec::new(),
            Purpose::Delivery => return Left::Doubt,
        };
        let history = before.with(sent.into_iter().chain(heard.output));
        if let Some(id) = heard.id.filter(|_| self.request.stores) {
            self.memory.know_response(&self.name(&id), history.clone());
        }
        Left::All(history)
    }

    /// The turn is not on its way any more.
    pub(super) fn release(&mut self, left: Left) {
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
}

//! Handles the results of a sent request: rejections, answers and aborts.

use bytes::Bytes;

use super::answer::{AnswerReader, ModelAnswer, Read, Tracer};
use super::course::Recovery;
use super::history::History;
use super::turn::{PlanInputs, PlannedRequest, Purpose, Stage, Turn};
use crate::faults::StateError;
use crate::provider_api::{ServerError, depends_on_state};

/// A status that leaves open whether the server has the request: a proxy in front of it timed out.
const TIMED_OUT: u16 = 408;

impl Turn {
    /// Takes the server's error for the request, that is, an answer with a status other than 2xx.
    #[expect(clippy::needless_pass_by_value, reason = "the caller has no other use for it")]
    pub fn record_rejection(&mut self, status: u16, body: Bytes) {
        let request = match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Sending(request) => request,
            other => return self.stage = other,
        };
        let is_clients = (400..500).contains(&status);
        if is_clients && status != TIMED_OUT {
            self.state.record_attempt(None);
        }
        let error = is_clients.then(|| ServerError::parse(&body).state_error()).flatten();
        if error == Some(StateError::UnknownResponse) {
            self.state.forget_response();
        }
        self.lock.end();
        if error.is_none() && !depends_on_state(status) {
            return self.give_up_unchanged();
        }
        let PlannedRequest { body, planned } = request;
        match (self.course.reject(error), planned) {
            (Recovery::Wait, planned) if self.lock.wait() => match planned {
                // The other open turn may change the items: they are listed again.
                Some((PlanInputs::Known(_), _)) => self.start_again(),
                planned => self.stage = Stage::Sending(PlannedRequest { body, planned }),
            },
            (Recovery::Sync, Some((PlanInputs::Known(_), _))) => {
                self.rejected = Some(body);
                self.state.forget_response();
                self.start_again();
            }
            (Recovery::Sync | Recovery::Plan, Some((inputs, _))) => {
                self.rejected = Some(body);
                self.plan(inputs);
            }
            _ => self.give_up(),
        }
    }

    fn start_again(&mut self) {
        self.state.end_unknown();
        self.course.restart();
        self.sync();
    }

    /// Continues, unless the request was rejected before: then its caller gets that error.
    pub(super) fn unless_rejected(&mut self, next: impl FnOnce(&mut Self)) {
        match self.course.fault() {
            Some(_) => self.give_up(),
            None => next(self),
        }
    }

    /// Ends the turn with the server's error. The state of the conversation is unknown.
    fn give_up(&mut self) {
        self.state.end_unknown();
        self.stage = Stage::GivenUp;
    }

    /// Ends the turn with the server's error. It has changed nothing.
    pub(super) fn give_up_unchanged(&mut self) {
        self.state.end_unchanged();
        self.stage = Stage::GivenUp;
    }

    /// Records the start of the answer to the request: an event stream, or one JSON object. `now`
    /// is in Unix seconds.
    pub fn start(&mut self, is_event_stream: bool, now: i64) {
        self.lock.end();
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Sending(request) => {
                if self.request.in_background {
                    self.state.record_attempt(None);
                }
                let ids = self.ids.of_answer(self.key);
                let reader = AnswerReader::new(is_event_stream, &self.request, now, ids);
                self.stage = Stage::Receiving(request, reader);
            }
            other => self.stage = other,
        }
    }

    /// Takes the next bytes of the answer, and returns the bytes for the caller: well-formed
    /// events, with each call once. Events that are well-formed stay as they are, and so do the
    /// events of a response in the background. [`finish`](Self::finish) returns an answer in one
    /// piece. `now` is in Unix seconds.
    ///
    /// After the terminal event of the answer, the server has the turn: later calls do not change
    /// that.
    pub fn push(&mut self, bytes: &[u8], now: i64) -> Bytes {
        let Stage::Receiving(_, reader) = &mut self.stage else { return Bytes::new() };
        let read = reader.push(bytes, now, &mut Tracer { key: self.key, ids: &mut self.ids });
        if let Some(answer) = read.answer {
            self.conclude(answer);
        }
        read.bytes
    }

    /// Records the end of the answer, and returns the last bytes for the caller. A stream without a
    /// terminal event ends as failed. `now` is in Unix seconds.
    pub fn finish(&mut self, now: i64) -> Bytes {
        let read = self.finish_reading(now);
        match read.answer {
            Some(answer) => self.conclude(answer),
            None if matches!(self.stage, Stage::GivenUp) => {}
            None => {
                self.state.end_unknown();
                self.stage = Stage::Over;
            }
        }
        read.bytes
    }

    /// Records that the answer broke off, or that its reader disconnected. An answer whose terminal
    /// event has arrived is complete nevertheless.
    pub fn abandon(&mut self) {
        self.finish(0);
    }

    fn finish_reading(&mut self, now: i64) -> Read {
        let Stage::Receiving(_, reader) = &mut self.stage else { return Read::default() };
        let mut tracer = Tracer { key: self.key, ids: &mut self.ids };
        match self.purpose {
            Purpose::Answer => reader.finish(now, &mut tracer),
            Purpose::Delivery => {
                let bytes = reader.take_body().unwrap_or_default();
                Read { answer: ModelAnswer::from_list(&bytes, &mut tracer), bytes }
            }
        }
    }

    /// Records the result of an answer.
    fn conclude(&mut self, answer: ModelAnswer) {
        let id = answer.id.clone().filter(|_| self.request.stores);
        let Stage::Receiving(request, _) = std::mem::replace(&mut self.stage, Stage::Over) else {
            return self.state.end_unknown();
        };
        match request.history_after(self.purpose, answer) {
            Some((history, is_all)) => self.state.end_with(history, is_all, id.as_deref()),
            None => self.state.end_unknown(),
        }
    }
}

impl PlannedRequest {
    /// The history after an answer with this result, and whether it is complete; `None` if the
    /// history is unknown.
    fn history_after(self, purpose: Purpose, answer: ModelAnswer) -> Option<(History, bool)> {
        let (inputs, plan) = self.planned.filter(|_| answer.is_whole)?;
        let (before, is_all) = match inputs {
            PlanInputs::Known(history) => (history, true),
            PlanInputs::Nothing => (History::default(), true),
            PlanInputs::Unlisted(history) => (history, false),
        };
        let sent = match purpose {
            Purpose::Answer => plan.fresh,
            Purpose::Delivery if answer.output.len() == plan.fresh.len() => Vec::new(),
            Purpose::Delivery => return None,
        };
        let history = || (before.with(sent.into_iter().chain(answer.output)), is_all);
        (!plan.names_unknown).then(history)
    }
}

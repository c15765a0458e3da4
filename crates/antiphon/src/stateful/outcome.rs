//! Handles the results of a sent request: rejections, answers and aborts.

use bytes::Bytes;

use super::answer::{AnswerReader, ModelAnswer, Read, Tracer};
use super::turn::{Purpose, Stage, Turn};
use crate::faults::StateError;
use crate::provider_api::{ServerError, depends_on_state};

/// A status that leaves open whether the server has the request: a proxy in front of it timed out.
const TIMED_OUT: u16 = 408;

impl Turn {
    /// Takes the server's error for the request, that is, an answer with a status other than 2xx.
    #[expect(clippy::needless_pass_by_value, reason = "the caller has no other use for it")]
    pub fn record_rejection(&mut self, status: u16, body: Bytes) {
        if !matches!(self.stage, Stage::Sending(_)) {
            return;
        }
        let is_clients = (400..500).contains(&status);
        if is_clients && status != TIMED_OUT {
            self.state.drop_attempt();
        }
        let error = is_clients.then(|| ServerError::parse(&body).state_error()).flatten();
        if error == Some(StateError::UnknownResponse) {
            self.state.forget_response();
        }
        self.lock.end();
        if error.is_none() && !depends_on_state(status) {
            return self.give_up_unchanged();
        }
        self.preparation.reject(error);
        self.advance();
    }

    /// Records the start of the answer to the request: an event stream, or one JSON object. `now`
    /// is in Unix seconds.
    pub fn start(&mut self, is_event_stream: bool, now: i64) {
        self.lock.end();
        if matches!(self.stage, Stage::Sending(_)) {
            if self.request.in_background {
                self.state.drop_attempt();
            }
            let ids = self.ids.of_answer(self.key);
            let reader = AnswerReader::new(is_event_stream, &self.request, now, ids);
            self.stage = Stage::Receiving(reader);
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
        let Stage::Receiving(reader) = &mut self.stage else { return Bytes::new() };
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
        let Stage::Receiving(reader) = &mut self.stage else { return Read::default() };
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
        self.stage = Stage::Over;
        let id = answer.id.as_deref().filter(|_| self.request.stores);
        let plan = self.preparation.plan().filter(|plan| answer.is_whole && !plan.names_unknown);
        let sent = plan.and_then(|plan| match self.purpose {
            Purpose::Answer => Some((plan.fresh.as_slice(), !plan.report.by_kind)),
            // The server lists the delivered items themselves.
            Purpose::Delivery if answer.output.len() == plan.fresh.len() => {
                Some((&[][..], !plan.report.by_kind))
            }
            Purpose::Delivery => None,
        });
        match sent {
            Some((sent, is_all)) => {
                let items = sent.iter().cloned().chain(answer.output);
                self.state.end_with(items, is_all, id);
            }
            None => self.state.end_unknown(),
        }
    }
}

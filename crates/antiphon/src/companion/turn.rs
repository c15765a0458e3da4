//! One turn, from the request to the end of its answer.

use std::time::Duration;

use bytes::Bytes;

use super::course::{Course, Sending, Stage};
use super::{Report, Step};

/// An open turn.
///
/// Only [`answered`](Self::answered), [`refused`](Self::refused) and [`begun`](Self::begun) change
/// [`step`](Self::step). Dropping a turn before its end aborts it.
#[derive(Debug)]
pub struct Turn(Course);

impl Turn {
    pub(super) fn of(course: Course) -> Self {
        Self(course)
    }

    /// The next step. It stays the same until the next result is passed to the turn.
    pub fn step(&self) -> Step {
        match &self.0.stage {
            Stage::Learning(learning, _) => learning.step(),
            Stage::Deleting(deleting) => deleting.step().unwrap_or(Step::Nothing),
            Stage::GoingAround(around) => around.step(),
            Stage::Sending(Sending { body, .. }) => Step::Send { body: body.clone() },
            Stage::GivenUp => Step::GiveUp,
            Stage::Hearing(..) | Stage::Over => Step::Nothing,
        }
    }

    /// The delay before the step, if any.
    ///
    /// A turn waits a few times, some seconds in all, for another open turn of its conversation:
    /// the server may not have noticed yet that the caller of that turn disconnected.
    pub fn wait(&self) -> Option<Duration> {
        self.0.line.waits()
    }

    /// Takes the server's answer to a [`Step::Ask`]. For a request without an answer, pass status 0
    /// and an empty body.
    #[expect(clippy::needless_pass_by_value, reason = "whoever tells has no other use for it")]
    pub fn answered(&mut self, status: u16, body: Bytes) {
        self.0.answered(status, &body);
    }

    /// Takes the server's error for the request, that is, an answer with a status other than 2xx.
    #[expect(clippy::needless_pass_by_value, reason = "whoever tells has no other use for it")]
    pub fn refused(&mut self, status: u16, body: Bytes) {
        self.0.refused(status, &body);
    }

    /// Records the start of the answer to the request: an event stream, or one JSON object.
    pub fn begun(&mut self, is_event_stream: bool) {
        self.0.begun(is_event_stream);
    }

    /// Takes the next bytes of the answer. The caller gets the same bytes unchanged.
    ///
    /// After the terminal event of the answer, the server has the turn: later calls do not change
    /// that.
    pub fn heard(&mut self, bytes: &[u8]) {
        self.0.heard(bytes);
    }

    /// Records the end of the answer.
    pub fn ended(&mut self) {
        self.0.ended();
    }

    /// Records that the answer broke off, or that its reader disconnected. An answer whose terminal
    /// event has arrived is complete nevertheless.
    pub fn left(&mut self) {
        self.0.ended();
    }

    /// The omitted and repaired items of the request. Read it when [`step`](Self::step) is
    /// [`Step::Send`]; if the request is planned and sent again, the report changes.
    pub fn report(&self) -> Report {
        self.0.report.clone()
    }
}

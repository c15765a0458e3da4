//! One turn, from the request to the end of its answer.

use std::time::Duration;

use bytes::Bytes;

use super::course::{Course, Sending, Stage};
use super::{Report, Step};

/// A turn that was opened.
///
/// [`step`](Self::step) changes with [`answered`](Self::answered), [`refused`](Self::refused) and
/// [`begun`](Self::begun), and with nothing else. A turn that is dropped before its end was left.
#[derive(Debug)]
pub struct Turn(Course);

impl Turn {
    pub(super) fn of(course: Course) -> Self {
        Self(course)
    }

    /// What is to be done next. The same until something is told.
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

    /// How long to wait before doing that; `None` where there is nothing to wait for. A turn that finds
    /// another one open in its conversation waits for that a few times, some seconds in all: a server may
    /// not have seen yet that the caller of the last one left.
    pub fn wait(&self) -> Option<Duration> {
        self.0.line.waits()
    }

    /// What the server says to what [`Step::Ask`] asks. A request that came to no answer is told as status 0
    /// without a body.
    #[expect(clippy::needless_pass_by_value, reason = "whoever tells has no other use for it")]
    pub fn answered(&mut self, status: u16, body: Bytes) {
        self.0.answered(status, &body);
    }

    /// The server refused the request that was sent, or failed: it gave another status than 2xx.
    #[expect(clippy::needless_pass_by_value, reason = "whoever tells has no other use for it")]
    pub fn refused(&mut self, status: u16, body: Bytes) {
        self.0.refused(status, &body);
    }

    /// The server answers the request that was sent: with an event stream, or with one JSON object.
    pub fn begun(&mut self, is_event_stream: bool) {
        self.0.begun(is_event_stream);
    }

    /// Bytes of the answer, as they come. They go to the caller as they are. Once they have told the end
    /// of the answer, the server has the turn, whatever is told afterwards.
    pub fn heard(&mut self, bytes: &[u8]) {
        self.0.heard(bytes);
    }

    /// The answer is over.
    pub fn ended(&mut self) {
        self.0.ended();
    }

    /// The answer broke off, or nobody reads it any more. An answer that had told its end is whole.
    pub fn left(&mut self) {
        self.0.ended();
    }

    /// What was left out and mended, once [`step`](Self::step) says [`Step::Send`].
    pub fn report(&self) -> Report {
        self.0.report.clone()
    }
}

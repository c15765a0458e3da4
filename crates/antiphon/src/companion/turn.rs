//! One turn, from the request to the end of its answer.

use bytes::Bytes;

use super::{Report, Step};

/// A turn that was opened.
///
/// [`step`](Self::step) changes with [`answered`](Self::answered), [`refused`](Self::refused) and
/// [`begun`](Self::begun), and with nothing else. A turn that is dropped before its end was left.
#[derive(Debug)]
pub struct Turn {
    step: Step,
}

impl Turn {
    pub(super) fn passing(body: Bytes) -> Self {
        Self { step: Step::Send { body } }
    }

    /// What is to be done next. The same until something is told.
    pub fn step(&self) -> Step {
        self.step.clone()
    }

    /// What the server says to what [`Step::Ask`] asks.
    pub fn answered(&mut self, status: u16, body: Bytes) {
        let _ = (status, body);
    }

    /// The server refused the request that was sent.
    pub fn refused(&mut self, status: u16, body: Bytes) {
        let _ = (status, body);
        self.step = Step::GiveUp;
    }

    /// The server answers the request that was sent: with an event stream, or with one JSON object.
    pub fn begun(&mut self, is_event_stream: bool) {
        let _ = is_event_stream;
        self.step = Step::Nothing;
    }

    /// Bytes of the answer, as they come. They go to the caller as they are.
    pub fn heard(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }

    /// The answer is over.
    pub fn ended(&mut self) {}

    /// The answer broke off, or nobody reads it any more.
    pub fn left(&mut self) {}

    /// What was left out and mended, once [`step`](Self::step) says [`Step::Send`].
    pub fn report(&self) -> Report {
        Report::default()
    }
}

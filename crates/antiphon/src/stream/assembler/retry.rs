//! Resets the assembler so that the upstream can be asked again.

use super::{Assembler, Failure, Phase, RepeatDetector, Routes, SuppressedCalls};

impl Assembler {
    /// The reason why the response failed, if it did.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.phase {
            Phase::Ended(ending) => ending.failure(),
            Phase::Awaited | Phase::Open => None,
        }
    }

    /// Whether any event after the initial events was emitted.
    pub fn has_emitted_output(&self) -> bool {
        self.emitter.emitted() > self.initial_events.length()
    }

    /// Resets the assembler for another attempt at the upstream request: forgets the upstream's
    /// events so far, its terminal event included. The initial events are not emitted again.
    ///
    /// Returns `false` and changes nothing if output events were already emitted, since a second
    /// attempt would repeat them.
    pub fn reset_for_retry(&mut self) -> bool {
        if self.has_emitted_output() {
            return false;
        }
        self.routes = Routes::default();
        self.repeats = RepeatDetector::default();
        self.early.clear();
        self.suppressed = SuppressedCalls::default();
        self.identity.notes.clear();
        self.identity.expects_ids = true;
        if self.has_ended() {
            self.phase = Phase::Open;
        }
        true
    }
}

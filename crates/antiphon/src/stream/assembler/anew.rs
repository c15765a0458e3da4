//! A second answer in the place of one that came to nothing.

use super::{Assembler, Failure, Numbering, Phase, Routes, Suppressed};

impl Assembler {
    /// Why the response failed, where it has.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.phase {
            Phase::Ended(ending) => ending.failure(),
            Phase::Awaited | Phase::Open => None,
        }
    }

    /// Whether clients were told of more than the response's beginning.
    pub fn has_told_output(&self) -> bool {
        self.emitter.told() > self.beginning.length()
    }

    /// Forgets what an upstream said that came to nothing, an end that it told of included: the next
    /// thing heard is the beginning of another answer, which is not told a second time. `false`
    /// where clients were told of output, which they would be told twice: then nothing is changed.
    pub fn hear_anew(&mut self) -> bool {
        if self.has_told_output() {
            return false;
        }
        self.routes = Routes::default();
        self.numbering = Numbering::default();
        self.early.clear();
        self.suppressed = Suppressed::default();
        self.identity.notes.clear();
        self.identity.expects_ids = true;
        if self.has_ended() {
            self.phase = Phase::Open;
        }
        true
    }
}

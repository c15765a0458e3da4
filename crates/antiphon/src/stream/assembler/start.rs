//! The start of a response, and its restart for another attempt at the upstream request.

use super::{Assembler, Failure, Phase, RepeatDetector};
use crate::stream::emitter::INITIAL_EVENTS;

/// The initial events, and the number of them that were emitted before this assembler existed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InitialEvents {
    events: &'static [&'static str],
    emitted: usize,
}

/// The initial events of a response in the foreground.
const FOREGROUND: [&str; 2] = ["response.created", "response.in_progress"];

impl Default for InitialEvents {
    fn default() -> Self {
        Self { events: &FOREGROUND, emitted: 0 }
    }
}

impl InitialEvents {
    /// The initial events that are not emitted yet.
    pub(super) fn remaining(self) -> &'static [&'static str] {
        &self.events[self.emitted..]
    }

    pub(super) fn length(self) -> u64 {
        self.events.len() as u64
    }
}

impl Assembler {
    /// Continues a response of which `received` events were emitted already: by
    /// [`queued`](crate::stream::queued), and possibly by an earlier assembler. Sequence numbers
    /// continue from there.
    #[must_use]
    pub fn starting_after(mut self, received: u64) -> Self {
        let events = &INITIAL_EVENTS;
        let before = usize::try_from(received).unwrap_or(usize::MAX).min(events.len());
        self.initial_events = InitialEvents { events, emitted: before };
        self.output.emitter = self.output.emitter.starting_at(received);
        self
    }

    /// Emits the initial events before the upstream's first event.
    pub fn start(&mut self) {
        self.open(None);
    }
}

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
        self.output.emitter.emitted() > self.initial_events.length()
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
        self.repeats = RepeatDetector::default();
        self.output.reset();
        if self.has_ended() {
            self.phase = Phase::Open;
        }
        true
    }
}

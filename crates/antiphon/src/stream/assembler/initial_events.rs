//! The initial events of a response.

use super::Assembler;
use crate::stream::queued;

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
    /// Continues a response that was [queued](queued()) and of which `received` events were emitted
    /// already: by [`queued()`], and possibly by an earlier assembler. Sequence numbers continue
    /// from there.
    #[must_use]
    pub fn starting_after(mut self, received: u64) -> Self {
        let events = &queued::INITIAL_EVENTS;
        let before = usize::try_from(received).unwrap_or(usize::MAX).min(events.len());
        self.initial_events = InitialEvents { events, emitted: before };
        self.emitter = self.emitter.starting_at(received);
        self
    }

    /// Emits the initial events before the upstream's first event.
    pub fn start(&mut self) {
        self.open(None);
    }
}

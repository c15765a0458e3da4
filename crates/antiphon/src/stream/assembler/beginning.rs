//! The events that a response begins by.

use super::Assembler;
use crate::stream::queued;

/// Which they are, and which of them were told before this assembler was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Beginning {
    events: &'static [&'static str],
    told: usize,
}

/// Of a response whose caller waits for it.
const AT_ONCE: [&str; 2] = ["response.created", "response.in_progress"];

impl Default for Beginning {
    fn default() -> Self {
        Self { events: &AT_ONCE, told: 0 }
    }
}

impl Beginning {
    /// Those that are still to be told.
    pub(super) fn untold(self) -> &'static [&'static str] {
        &self.events[self.told..]
    }

    /// How many there are.
    pub(super) fn length(self) -> u64 {
        self.events.len() as u64
    }
}

impl Assembler {
    /// The same assembler for a response that was [queued](queued()), of which `told` events were told
    /// already: those of its queue, and maybe more by an assembler that is gone. Numbers go on from
    /// there.
    #[must_use]
    pub fn behind(mut self, told: u64) -> Self {
        let events = &queued::BEGINNING;
        let before = usize::try_from(told).unwrap_or(usize::MAX).min(events.len());
        self.beginning = Beginning { events, told: before };
        self.emitter = self.emitter.behind(told);
        self
    }

    /// Starts the response before anything of its upstream's is heard.
    pub fn start(&mut self) {
        self.open(None);
    }
}

//! Waiting for a turn of others that is open in the conversation.

use std::time::Duration;

/// How long a turn waits for another one, time after time.
const WAITS: [Duration; 4] = [
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
];

/// A turn's place behind others.
///
/// ```text
///   ---> Free ---- locked ----> Waiting ---- something is told ----> Free
///                                        '-- locked, for the last time ---> given up
/// ```
#[derive(Debug, Default)]
pub(super) struct Line {
    /// How often it waited.
    times: usize,
    waits: Option<Duration>,
}

impl Line {
    /// Another turn is open. Whether it is waited for once more.
    pub(super) fn wait(&mut self) -> bool {
        self.waits = WAITS.get(self.times).copied();
        self.times += 1;
        self.waits.is_some()
    }

    /// How long is to be waited now.
    pub(super) fn waits(&self) -> Option<Duration> {
        self.waits
    }

    /// It was waited.
    pub(super) fn is_over(&mut self) {
        self.waits = None;
    }
}

//! Waits for another open turn of the conversation.

use std::time::Duration;

/// The delays of a turn that waits for another one, in order.
const WAITS: [Duration; 4] = [
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
];

/// The wait of a turn for others.
///
/// ```text
///   ---> Free ---- locked ----> Waiting ---- next result ----> Free
///                                        '-- locked, no delay left ---> given up
/// ```
#[derive(Debug, Default)]
pub(super) struct Line {
    /// The number of waits so far.
    times: usize,
    waits: Option<Duration>,
}

impl Line {
    /// Records that another turn is open. Returns whether to wait once more.
    pub(super) fn wait(&mut self) -> bool {
        self.waits = WAITS.get(self.times).copied();
        self.times += 1;
        self.waits.is_some()
    }

    /// The current delay.
    pub(super) fn waits(&self) -> Option<Duration> {
        self.waits
    }

    /// Ends the wait.
    pub(super) fn is_over(&mut self) {
        self.waits = None;
    }
}

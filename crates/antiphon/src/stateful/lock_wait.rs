//! Waits for another open turn of the conversation.

use std::time::Duration;

/// The delays of a turn that waits for another one, in order.
const DELAYS: [Duration; 4] = [
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
pub(super) struct LockWait {
    /// The number of waits so far.
    waits: usize,
    delay: Option<Duration>,
}

impl LockWait {
    /// Records that another turn is open. Returns whether to wait once more.
    pub(super) fn wait(&mut self) -> bool {
        self.delay = DELAYS.get(self.waits).copied();
        self.waits += 1;
        self.delay.is_some()
    }

    /// The current delay.
    pub(super) fn delay(&self) -> Option<Duration> {
        self.delay
    }

    /// Ends the wait.
    pub(super) fn end(&mut self) {
        self.delay = None;
    }
}

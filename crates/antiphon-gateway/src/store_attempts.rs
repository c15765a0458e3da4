//! The pauses between attempts at a store operation that a caller waits for.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::bound::from_now;
use crate::gateway::Gateway;

/// The pause after the first attempt. Each later pause is twice as long, up to [`LONGEST`].
const PAUSE: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_secs(1);

/// The pauses between attempts at the same store operation.
pub(crate) struct StoreAttempts<'a> {
    gateway: &'a Gateway,
    until: Instant,
    pause: Duration,
}

impl<'a> StoreAttempts<'a> {
    /// Allows attempts for as long as the settings let a commit wait.
    pub(crate) fn new(gateway: &'a Gateway) -> Self {
        let until = from_now(gateway.settings.store.commit_wait);
        Self { gateway, until, pause: PAUSE }
    }

    /// Waits before the next attempt. Returns `false` if the time is over or the gateway
    /// is closing.
    pub(crate) async fn pause(&mut self) -> bool {
        let now = Instant::now();
        if now >= self.until {
            return false;
        }
        let next = (now + self.pause).min(self.until);
        self.pause = (self.pause * 2).min(LONGEST);
        tokio::select! {
            () = sleep_until(next) => true,
            () = self.gateway.closing.cancelled() => false,
        }
    }
}

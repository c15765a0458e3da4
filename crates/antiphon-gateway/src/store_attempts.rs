//! The pauses between attempts at a store operation that a caller waits for.

use tokio::time::{Instant, sleep};

use crate::bound::from_now;
use crate::gateway::Gateway;
use crate::retry_policy::{DelaysUntil, RetryPolicy};

/// The pauses between attempts at the same store operation.
pub(crate) struct StoreAttempts<'a> {
    gateway: &'a Gateway,
    delays: DelaysUntil,
}

impl<'a> StoreAttempts<'a> {
    /// Allows attempts for as long as the settings let a commit wait.
    pub(crate) fn new(gateway: &'a Gateway) -> Self {
        let end = from_now(gateway.settings.store.commit_wait);
        Self { gateway, delays: DelaysUntil::new(end, RetryPolicy::COMMIT) }
    }

    /// Waits before the next attempt. Returns `false` if the time is over or the gateway
    /// is closing.
    pub(crate) async fn pause(&mut self) -> bool {
        let Some(delay) = self.delays.next(Instant::now()) else { return false };
        tokio::select! {
            () = sleep(delay) => true,
            () = self.gateway.closing.cancelled() => false,
        }
    }
}

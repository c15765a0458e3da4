//! Handling of a store that fails.

use std::time::Duration;

/// The time for which the gateway trusts the store, and the time for which it waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreSettings {
    /// The time after a successful write for which the store counts as writable. After that, a turn
    /// writes to the store before it sends its request.
    pub trusted_for: Duration,
    /// The time for which the commit of a turn is retried while the store is unavailable. If
    /// processes share the store, another one settles the turn after 15 seconds.
    pub commit_wait: Duration,
}

impl Default for StoreSettings {
    fn default() -> Self {
        Self { trusted_for: Duration::from_secs(1), commit_wait: Duration::from_secs(15) }
    }
}

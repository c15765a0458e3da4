//! How the gateway meets a store that fails.

use std::time::Duration;

/// How long the gateway trusts the store, and how long it waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreSettings {
    /// How long a write that succeeded vouches for the store. After that a turn writes before it asks
    /// its model.
    pub trusted_for: Duration,
    /// How long the commit of a turn is repeated while the store is unavailable. Where processes share
    /// the store, another one settles the turn after 15 seconds.
    pub commit_wait: Duration,
}

impl Default for StoreSettings {
    fn default() -> Self {
        Self { trusted_for: Duration::from_secs(1), commit_wait: Duration::from_secs(15) }
    }
}

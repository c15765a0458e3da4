//! The work of a store, for its operator.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Receives the commits of a store as they happen. It is called on the store's own threads, so it
/// must not block.
pub trait StoreObserver: Send + Sync {
    /// The store committed this number of writes together, in one transaction, or failed to.
    fn committed(&self, writes: usize, took: Duration, is_success: bool);
}

/// The current work of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreLoad {
    /// Connections of the pool that are in use.
    pub connections_in_use: usize,
    /// The maximum number of connections in the pool.
    pub max_connections: usize,
    /// Calls that wait for a connection or for the writer.
    pub waiting_calls: usize,
}

/// The observer of a store, once it has one.
#[derive(Clone, Default)]
pub(crate) struct Observed(Arc<OnceLock<Arc<dyn StoreObserver>>>);

impl Observed {
    /// Sets the observer. Only the first one counts.
    pub(crate) fn set(&self, observer: Arc<dyn StoreObserver>) {
        let _ = self.0.set(observer);
    }

    /// Reports the commit of a number of writes that began at this time.
    pub(crate) fn report(&self, writes: usize, begun: Instant, is_success: bool) {
        if let Some(observer) = self.0.get() {
            observer.committed(writes, begun.elapsed(), is_success);
        }
    }
}

impl fmt::Debug for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observed").finish_non_exhaustive()
    }
}

//! Fair locks by id: waiters are served in the order of arrival.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use antiphon_store::Tenant;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

use crate::metrics::{QueueMetrics, QueueWait};

/// The tenant and the id of a lock.
type Key = (Tenant, String);

/// The locks of this process.
pub(super) struct LeaseQueues {
    locks: Mutex<HashMap<Key, Weak<RwLock<()>>>>,
    metrics: QueueMetrics,
}

impl LeaseQueues {
    pub(super) fn new(metrics: QueueMetrics) -> Self {
        Self { locks: Mutex::default(), metrics }
    }

    /// Counts a wait, until the result is dropped.
    pub(super) fn count_wait(&self) -> QueueWait {
        self.metrics.wait()
    }

    /// Waits up to `wait` for the exclusive lock.
    pub(super) async fn lock_exclusive(
        &self,
        tenant: &Tenant,
        id: &str,
        wait: Duration,
    ) -> Option<OwnedRwLockWriteGuard<()>> {
        let lock = self.lock(tenant, id);
        match lock.clone().try_write_owned() {
            Ok(guard) => Some(guard),
            Err(_) => self.with_timeout(wait, lock.write_owned()).await,
        }
    }

    /// Waits up to `wait` for a shared lock. Exclusive holders and exclusive waiters come first.
    pub(super) async fn lock_shared(
        &self,
        tenant: &Tenant,
        id: &str,
        wait: Duration,
    ) -> Option<OwnedRwLockReadGuard<()>> {
        let lock = self.lock(tenant, id);
        match lock.clone().try_read_owned() {
            Ok(guard) => Some(guard),
            Err(_) => self.with_timeout(wait, lock.read_owned()).await,
        }
    }

    /// The lock of an id. It exists as long as it is held or waited for.
    fn lock(&self, tenant: &Tenant, id: &str) -> Arc<RwLock<()>> {
        let key = (tenant.clone(), id.to_owned());
        let mut queues = self.locks.lock().expect("no holder of this lock panics");
        if let Some(lock) = queues.get(&key).and_then(Weak::upgrade) {
            return lock;
        }
        if queues.len() == queues.capacity() {
            queues.retain(|_, lock| lock.strong_count() > 0);
        }
        let lock = Arc::new(RwLock::new(()));
        queues.insert(key, Arc::downgrade(&lock));
        lock
    }

    /// The number of holders and waiters of a lock.
    pub(super) fn count_users(&self, tenant: &Tenant, id: &str) -> usize {
        let queues = self.locks.lock().expect("no holder of this lock panics");
        queues.get(&(tenant.clone(), id.to_owned())).map_or(0, Weak::strong_count)
    }

    async fn with_timeout<T>(&self, wait: Duration, locking: impl Future<Output = T>) -> Option<T> {
        if wait.is_zero() {
            return None;
        }
        let _waiting = self.count_wait();
        tokio::time::timeout(wait, locking).await.ok()
    }
}

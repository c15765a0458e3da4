//! Fair locks by id: waiters are served in the order of arrival.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use antiphon_store::Tenant;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

/// The tenant and the id of a lock.
type Key = (Tenant, String);

/// The locks of this process.
#[derive(Default)]
pub(super) struct LeaseQueues(Mutex<HashMap<Key, Weak<RwLock<()>>>>);

impl LeaseQueues {
    /// Waits up to `wait` for the exclusive lock.
    pub(super) async fn alone(
        &self,
        tenant: &Tenant,
        id: &str,
        wait: Duration,
    ) -> Option<OwnedRwLockWriteGuard<()>> {
        let turnstile = self.turnstile(tenant, id);
        match turnstile.clone().try_write_owned() {
            Ok(guard) => Some(guard),
            Err(_) => within(wait, turnstile.write_owned()).await,
        }
    }

    /// Waits up to `wait` for a shared lock. Exclusive holders and exclusive waiters come first.
    pub(super) async fn among(
        &self,
        tenant: &Tenant,
        id: &str,
        wait: Duration,
    ) -> Option<OwnedRwLockReadGuard<()>> {
        let turnstile = self.turnstile(tenant, id);
        match turnstile.clone().try_read_owned() {
            Ok(guard) => Some(guard),
            Err(_) => within(wait, turnstile.read_owned()).await,
        }
    }

    /// The lock of an id. It exists as long as it is held or waited for.
    fn turnstile(&self, tenant: &Tenant, id: &str) -> Arc<RwLock<()>> {
        let key = (tenant.clone(), id.to_owned());
        let mut turnstiles = self.0.lock().expect("no holder of this lock panics");
        if let Some(turnstile) = turnstiles.get(&key).and_then(Weak::upgrade) {
            return turnstile;
        }
        if turnstiles.len() == turnstiles.capacity() {
            turnstiles.retain(|_, turnstile| turnstile.strong_count() > 0);
        }
        let turnstile = Arc::new(RwLock::new(()));
        turnstiles.insert(key, Arc::downgrade(&turnstile));
        turnstile
    }
}

async fn within<T>(wait: Duration, entering: impl Future<Output = T>) -> Option<T> {
    match wait.is_zero() {
        true => None,
        false => tokio::time::timeout(wait, entering).await.ok(),
    }
}

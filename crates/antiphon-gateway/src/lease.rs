//! One open turn per conversation; the others wait in line. An open turn also holds its own
//! response, so that whoever goes on from it waits for its end.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use antiphon_store::Tenant;
use tokio::sync::{Mutex as Turnstile, OwnedMutexGuard};

/// A conversation or a response, by its id.
type Key = (Tenant, String);

/// The leases of this process. Waiting turns are served in the order in which they came.
#[derive(Default)]
pub(crate) struct Leases {
    turnstiles: Mutex<HashMap<Key, Weak<Turnstile<()>>>>,
}

/// The right to be the one open turn of a conversation, or of a response, until it is dropped.
pub(crate) struct Lease {
    _guard: OwnedMutexGuard<()>,
}

impl Leases {
    /// Waits for the lease up to `wait`; `None` where another turn still holds it then.
    pub(crate) async fn acquire(&self, tenant: &Tenant, id: &str, wait: Duration) -> Option<Lease> {
        let turnstile = self.turnstile((tenant.clone(), id.to_owned()));
        let guard = match turnstile.clone().try_lock_owned() {
            Ok(guard) => guard,
            Err(_) if wait.is_zero() => return None,
            Err(_) => tokio::time::timeout(wait, turnstile.lock_owned()).await.ok()?,
        };
        Some(Lease { _guard: guard })
    }

    /// The turnstile of an id. It lives as long as somebody holds or awaits it.
    fn turnstile(&self, key: Key) -> Arc<Turnstile<()>> {
        let mut turnstiles = self.turnstiles.lock().expect("no holder of this lock panics");
        if let Some(turnstile) = turnstiles.get(&key).and_then(Weak::upgrade) {
            return turnstile;
        }
        if turnstiles.len() == turnstiles.capacity() {
            turnstiles.retain(|_, turnstile| turnstile.strong_count() > 0);
        }
        let turnstile = Arc::new(Turnstile::new(()));
        turnstiles.insert(key, Arc::downgrade(&turnstile));
        turnstile
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_turn_at_a_time_and_others_in_line() {
        let leases = Arc::new(Leases::default());
        let tenant = Tenant::new("acme");
        let first = leases.acquire(&tenant, "conv_1", Duration::ZERO).await;
        assert!(first.is_some());
        assert!(leases.acquire(&tenant, "conv_1", Duration::ZERO).await.is_none());
        let foreign = Tenant::new("other");
        assert!(leases.acquire(&foreign, "conv_1", Duration::ZERO).await.is_some());

        let waiting = tokio::spawn({
            let (leases, tenant) = (Arc::clone(&leases), tenant.clone());
            async move { leases.acquire(&tenant, "conv_1", Duration::MAX).await.is_some() }
        });
        drop(first);
        assert!(waiting.await.unwrap());
    }
}

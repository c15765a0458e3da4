//! One open turn per conversation; the others wait in line.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use antiphon_store::{ConversationId, Tenant};
use tokio::sync::{Mutex as Turnstile, OwnedMutexGuard};

type Key = (Tenant, ConversationId);

/// The leases of this process. Waiting turns are served in the order in which they came.
#[derive(Default)]
pub(crate) struct Leases {
    turnstiles: Mutex<HashMap<Key, Weak<Turnstile<()>>>>,
}

/// The right to be the one open turn of a conversation, until it is dropped.
pub(crate) struct Lease {
    _guard: OwnedMutexGuard<()>,
}

impl Leases {
    /// Waits for the lease up to `wait`; `None` where another turn still holds it then.
    pub(crate) async fn acquire(
        &self,
        tenant: &Tenant,
        conversation: &ConversationId,
        wait: Duration,
    ) -> Option<Lease> {
        let turnstile = self.turnstile((tenant.clone(), conversation.clone()));
        let guard = match turnstile.clone().try_lock_owned() {
            Ok(guard) => guard,
            Err(_) if wait.is_zero() => return None,
            Err(_) => tokio::time::timeout(wait, turnstile.lock_owned()).await.ok()?,
        };
        Some(Lease { _guard: guard })
    }

    /// The turnstile of a conversation. It lives as long as somebody holds or awaits it.
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
    use antiphon_store::Shard;

    use super::*;
    use crate::entropy::RandomIds;

    #[tokio::test]
    async fn one_turn_at_a_time_and_others_in_line() {
        let leases = Arc::new(Leases::default());
        let tenant = Tenant::new("acme");
        let conversation = ConversationId::issue(Shard(1), &mut RandomIds);
        let first = leases.acquire(&tenant, &conversation, Duration::ZERO).await;
        assert!(first.is_some());
        assert!(leases.acquire(&tenant, &conversation, Duration::ZERO).await.is_none());
        let foreign = Tenant::new("other");
        assert!(leases.acquire(&foreign, &conversation, Duration::ZERO).await.is_some());

        let waiting = tokio::spawn({
            let (leases, tenant, conversation) =
                (Arc::clone(&leases), tenant.clone(), conversation.clone());
            async move { leases.acquire(&tenant, &conversation, Duration::MAX).await.is_some() }
        });
        drop(first);
        assert!(waiting.await.unwrap());
    }
}

//! The health checks: their paths, and whether the store can be read and written.

use std::time::Duration;

use antiphon_store::{ConversationId, Shard, Store, StoreError, Tenant};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::entropy::RandomIds;

/// Whether a path belongs to a health check.
pub(crate) fn is_health_check(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz")
}

/// The time limit of each of the two checks.
const PATIENCE: Duration = Duration::from_secs(5);

/// The lifetime of a result. It limits the probes to one write per second.
const MEMORY: Duration = Duration::from_secs(1);

/// Checks the store with a read and a write, one check at a time.
#[derive(Debug, Default)]
pub(crate) struct Readiness {
    last: Mutex<Option<(Instant, StoreHealth)>>,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreHealth {
    Working,
    Unreadable,
    Unwritable,
}

impl Readiness {
    /// The current result, at most one second old.
    pub(crate) async fn check(&self, store: &dyn Store) -> StoreHealth {
        let mut last = self.last.lock().await;
        if let Some((at, health)) = *last
            && at.elapsed() < MEMORY
        {
            return health;
        }
        let before = last.map_or(StoreHealth::Working, |(_, health)| health);
        let health = probe(store, before).await;
        *last = Some((Instant::now(), health));
        health
    }
}

/// Checks the store; logs a change from `before`.
async fn probe(store: &dyn Store, before: StoreHealth) -> StoreHealth {
    let (health, error) = match (read(store).await, write(store).await) {
        (Err(error), _) => (StoreHealth::Unreadable, Some(error)),
        (Ok(()), Err(error)) => (StoreHealth::Unwritable, Some(error)),
        (Ok(()), Ok(())) => (StoreHealth::Working, None),
    };
    match error {
        Some(error) if health != before => {
            tracing::error!(%error, "the store failed a check; /readyz answers 503 until it works");
        }
        None if health != before => tracing::info!("the store works again"),
        _ => {}
    }
    health
}

/// Looks up a conversation that does not exist.
async fn read(store: &dyn Store) -> Result<(), StoreError> {
    let id = ConversationId::issue(Shard::issue(&mut RandomIds), &mut RandomIds);
    let nobody = Tenant::new("readiness");
    in_time(store.conversation(&nobody, &id)).await.map(drop)
}

async fn write(store: &dyn Store) -> Result<(), StoreError> {
    in_time(store.check_writable()).await
}

async fn in_time<T>(check: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    let outcome = timeout(PATIENCE, check).await;
    outcome.unwrap_or_else(|_| {
        let reason = format!("no answer within {} seconds", PATIENCE.as_secs());
        Err(StoreError::Unavailable(reason))
    })
}

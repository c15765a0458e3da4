//! The health checks: their paths, and whether the store can be read and written.

use std::time::Duration;

use antiphon_store::{ConversationId, Shard, Store, StoreError, Tenant};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::entropy::RandomIds;
use crate::write_check::WriteCheck;

/// Whether a path belongs to a health check.
pub(crate) fn is_health_check(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz")
}

/// The time limit of each of the two checks.
const PATIENCE: Duration = Duration::from_secs(5);

/// The lifetime of a result. It limits the probes to one read and one write per second.
const MEMORY: Duration = Duration::from_secs(1);

/// Checks the store with a read and a write, one check at a time. [`WriteCheck`] remembers the
/// result of the write.
#[derive(Debug, Default)]
pub(crate) struct Readiness {
    last: Mutex<Last>,
}

#[derive(Debug, Default)]
struct Last {
    /// The time and the result of the last read.
    read: Option<(Instant, Result<(), StoreError>)>,
    health: StoreHealth,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StoreHealth {
    #[default]
    Working,
    Unreadable,
    Unwritable,
}

impl Readiness {
    /// The current result, at most one second old. Logs a change.
    pub(crate) async fn check(&self, store: &dyn Store, writes: &WriteCheck) -> StoreHealth {
        let mut last = self.last.lock().await;
        let read = match last.read.take() {
            Some((at, read)) if at.elapsed() < MEMORY => (at, read),
            _ => (Instant::now(), read(store).await),
        };
        let (health, error) = match (&read.1, write(store, writes).await) {
            (Err(error), _) => (StoreHealth::Unreadable, Some(error.clone())),
            (Ok(()), Err(error)) => (StoreHealth::Unwritable, Some(error)),
            (Ok(()), Ok(())) => (StoreHealth::Working, None),
        };
        if health != last.health {
            log_change(error);
        }
        *last = Last { read: Some(read), health };
        health
    }
}

fn log_change(error: Option<StoreError>) {
    if let Some(error) = error {
        tracing::error!(%error, "the store failed a check; /readyz answers 503 until it works");
    } else {
        tracing::info!("the store works again");
    }
}

/// Looks up a conversation that does not exist.
async fn read(store: &dyn Store) -> Result<(), StoreError> {
    let id = ConversationId::issue(Shard::issue(&mut RandomIds), &mut RandomIds);
    let nobody = Tenant::new("readiness");
    let found = timeout(PATIENCE, store.conversation(&nobody, &id)).await;
    found.unwrap_or_else(|_| Err(no_answer())).map(drop)
}

/// Checks with a write, unless a turn or another check has just written. The result of a check that
/// takes too long is remembered too.
async fn write(store: &dyn Store, writes: &WriteCheck) -> Result<(), StoreError> {
    let written = timeout(PATIENCE, writes.check_within(store, MEMORY)).await;
    written.unwrap_or_else(|_| {
        let written = Err(no_answer());
        writes.note(&written);
        written
    })
}

fn no_answer() -> StoreError {
    StoreError::Unavailable(format!("no answer within {} seconds", PATIENCE.as_secs()))
}

//! Checks whether the store can be read and written, and caches the results for a short time.
//!
//! A stored turn checks the store before it sends a request to a model, so that no model works in
//! vain. A successful write is trusted for a short time ([`StoreSettings::trusted_for`]), so a busy
//! gateway needs no extra writes. After that, the check makes one small write, which all waiting
//! turns share. `/readyz` uses the same result.
//!
//! [`StoreSettings::trusted_for`]: crate::settings::StoreSettings::trusted_for

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use antiphon_store::{ConversationId, Shard, Store, StoreError, Tenant};
use tokio::time::{Instant, timeout};

use crate::entropy::RandomIds;

/// The latest known result of a write.
pub(crate) struct WriteCheck {
    trusted_for: Duration,
    last: Mutex<Option<LastWrite>>,
    checking: tokio::sync::Mutex<()>,
}

/// The result and the time of the last write.
#[derive(Clone, Debug)]
struct LastWrite {
    at: Instant,
    error: Option<StoreError>,
}

impl WriteCheck {
    /// Creates a check without a known result.
    pub(crate) fn new(trusted_for: Duration) -> Self {
        Self { trusted_for, last: Mutex::default(), checking: tokio::sync::Mutex::default() }
    }

    /// Records the result of a write. A rejected write shows that the store works.
    pub(crate) fn record<T>(&self, written: &Result<T, StoreError>) {
        let error = written.as_ref().err().filter(|error| error.is_outage());
        let last = LastWrite { at: Instant::now(), error: error.cloned() };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
    }

    /// Fails if the store accepts no writes, for a turn. A success counts for a short time, a
    /// failure only if it is newer than the call.
    pub(crate) async fn check(&self, store: &dyn Store) -> Result<(), StoreError> {
        let asked = Instant::now();
        let is_current = |last: &LastWrite| match last.error {
            None => last.at.elapsed() < self.trusted_for,
            Some(_) => last.at >= asked,
        };
        self.check_unless_known(store, is_current).await
    }

    /// Fails if the store accepts no writes. A result that is not older than `age` counts.
    pub(crate) async fn check_within(
        &self,
        store: &dyn Store,
        age: Duration,
    ) -> Result<(), StoreError> {
        self.check_unless_known(store, |last: &LastWrite| last.at.elapsed() < age).await
    }

    async fn check_unless_known(
        &self,
        store: &dyn Store,
        is_current: impl Fn(&LastWrite) -> bool,
    ) -> Result<(), StoreError> {
        if let Some(last) = self.last().filter(&is_current) {
            return last.error.map_or(Ok(()), Err);
        }
        let _one_at_a_time = self.checking.lock().await;
        if let Some(last) = self.last().filter(&is_current) {
            return last.error.map_or(Ok(()), Err);
        }
        let written = store.check_writable().await;
        self.record(&written);
        written
    }

    /// Whether the last write succeeded.
    pub(crate) fn is_writable(&self) -> bool {
        self.last().is_none_or(|last| last.error.is_none())
    }

    fn last(&self) -> Option<LastWrite> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The time limit of each of the two checks.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// The lifetime of a result. It limits the probes to one read and one write per second.
const LIFETIME: Duration = Duration::from_secs(1);

/// Checks the store with a read and a write, one check at a time. [`WriteCheck`] remembers the
/// result of the write.
#[derive(Debug, Default)]
pub(crate) struct StoreReadiness {
    last: tokio::sync::Mutex<LastCheck>,
}

#[derive(Debug, Default)]
struct LastCheck {
    /// The time and the result of the last read.
    read: Option<(Instant, Result<(), StoreError>)>,
    health: StoreHealth,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StoreHealth {
    #[default]
    Working,
    UnreadableSeal,
    Unwritable,
}

impl StoreReadiness {
    /// The current result, at most one second old. Logs a change.
    pub(crate) async fn check(&self, store: &dyn Store, writes: &WriteCheck) -> StoreHealth {
        let mut last = self.last.lock().await;
        let read = match last.read.take() {
            Some((at, read)) if at.elapsed() < LIFETIME => (at, read),
            _ => (Instant::now(), read(store).await),
        };
        let (health, error) = match (&read.1, write(store, writes).await) {
            (Err(error), _) => (StoreHealth::UnreadableSeal, Some(error.clone())),
            (Ok(()), Err(error)) => (StoreHealth::Unwritable, Some(error)),
            (Ok(()), Ok(())) => (StoreHealth::Working, None),
        };
        if health != last.health {
            log_change(error);
        }
        *last = LastCheck { read: Some(read), health };
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
    let found = timeout(CHECK_TIMEOUT, store.conversation(&nobody, &id)).await;
    found.unwrap_or_else(|_| Err(no_answer())).map(drop)
}

/// Checks with a write, unless a turn or another check has just written. The result of a check that
/// takes too long is remembered too.
async fn write(store: &dyn Store, writes: &WriteCheck) -> Result<(), StoreError> {
    let written = timeout(CHECK_TIMEOUT, writes.check_within(store, LIFETIME)).await;
    written.unwrap_or_else(|_| {
        let written = Err(no_answer());
        writes.record(&written);
        written
    })
}

fn no_answer() -> StoreError {
    StoreError::Unavailable(format!("no answer within {} seconds", CHECK_TIMEOUT.as_secs()))
}

#[cfg(test)]
mod tests {
    use antiphon_store::SqliteStore;

    use super::*;

    #[tokio::test]
    async fn recent_write_is_trusted_and_failure_is_checked() {
        let store = SqliteStore::in_memory().unwrap();
        let check = WriteCheck::new(Duration::from_hours(1));
        check.record::<()>(&Err(StoreError::Unavailable("down".into())));
        assert_eq!(check.check(&store).await, Ok(()));
        store.close().await;

        assert_eq!(check.check(&store).await, Ok(()), "by the write before");
        check.record::<()>(&Err(StoreError::Unavailable("down".into())));
        assert!(check.check(&store).await.is_err());
    }

    #[tokio::test]
    async fn refusal_shows_that_the_store_works() {
        let store = SqliteStore::in_memory().unwrap();
        store.close().await;
        let check = WriteCheck::new(Duration::from_hours(1));
        assert!(check.check(&store).await.is_err());
        check.record::<()>(&Err(StoreError::ConversationNotFound));
        assert_eq!(check.check(&store).await, Ok(()));
    }

    #[tokio::test]
    async fn readiness_uses_the_result_of_a_turn() {
        let store = SqliteStore::in_memory().unwrap();
        let (check, age) = (WriteCheck::new(Duration::ZERO), Duration::from_hours(1));
        check.record::<()>(&Err(StoreError::Unavailable("down".into())));
        assert!(check.check_within(&store, age).await.is_err());
        assert_eq!(check.check_within(&store, Duration::ZERO).await, Ok(()));
        store.close().await;
        assert_eq!(check.check_within(&store, age).await, Ok(()), "by the write before");
        assert!(check.check(&store).await.is_err());
    }
}

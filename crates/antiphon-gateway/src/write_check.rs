//! Checks whether the store accepts writes, and caches the result for a short time.
//!
//! A stored turn checks the store before it sends a request to a model, so that no model works in
//! vain. A successful write is trusted for a short time ([`StoreSettings::trusted_for`]), so a busy
//! gateway needs no extra writes. After that, the check makes one small write, which all waiting
//! turns share. `/readyz` uses the same result.
//!
//! [`StoreSettings::trusted_for`]: crate::settings::StoreSettings::trusted_for

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use antiphon_store::{Store, StoreError};
use tokio::time::Instant;

/// The latest known result of a write.
pub(crate) struct WriteCheck {
    trusted_for: Duration,
    last: Mutex<Option<Last>>,
    checking: tokio::sync::Mutex<()>,
}

/// The result and the time of the last write.
#[derive(Clone, Debug)]
struct Last {
    at: Instant,
    error: Option<StoreError>,
}

impl WriteCheck {
    /// Creates a check without a known result.
    pub(crate) fn new(trusted_for: Duration) -> Self {
        Self { trusted_for, last: Mutex::default(), checking: tokio::sync::Mutex::default() }
    }

    /// Records the result of a write. A rejected write shows that the store works.
    pub(crate) fn note<T>(&self, written: &Result<T, StoreError>) {
        let error = written.as_ref().err().filter(|error| error.is_outage());
        let last = Last { at: Instant::now(), error: error.cloned() };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
    }

    /// Fails if the store accepts no writes, for a turn. A success counts for a short time, a
    /// failure only if it is newer than the call.
    pub(crate) async fn check(&self, store: &dyn Store) -> Result<(), StoreError> {
        let asked = Instant::now();
        let is_current = |last: &Last| match last.error {
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
        self.check_unless_known(store, |last: &Last| last.at.elapsed() < age).await
    }

    async fn check_unless_known(
        &self,
        store: &dyn Store,
        is_current: impl Fn(&Last) -> bool,
    ) -> Result<(), StoreError> {
        if let Some(last) = self.last().filter(&is_current) {
            return last.error.map_or(Ok(()), Err);
        }
        let _one_at_a_time = self.checking.lock().await;
        if let Some(last) = self.last().filter(&is_current) {
            return last.error.map_or(Ok(()), Err);
        }
        let written = store.check_writable().await;
        self.note(&written);
        written
    }

    fn last(&self) -> Option<Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use antiphon_store::SqliteStore;

    use super::*;

    #[tokio::test]
    async fn recent_write_is_trusted_and_failure_is_checked() {
        let store = SqliteStore::in_memory().unwrap();
        let check = WriteCheck::new(Duration::from_hours(1));
        check.note::<()>(&Err(StoreError::Unavailable("down".into())));
        assert_eq!(check.check(&store).await, Ok(()));
        store.close().await;

        assert_eq!(check.check(&store).await, Ok(()), "by the write before");
        check.note::<()>(&Err(StoreError::Unavailable("down".into())));
        assert!(check.check(&store).await.is_err());
    }

    #[tokio::test]
    async fn refusal_shows_that_the_store_works() {
        let store = SqliteStore::in_memory().unwrap();
        store.close().await;
        let check = WriteCheck::new(Duration::from_hours(1));
        assert!(check.check(&store).await.is_err());
        check.note::<()>(&Err(StoreError::ConversationNotFound));
        assert_eq!(check.check(&store).await, Ok(()));
    }

    #[tokio::test]
    async fn readiness_uses_the_result_of_a_turn() {
        let store = SqliteStore::in_memory().unwrap();
        let (check, age) = (WriteCheck::new(Duration::ZERO), Duration::from_hours(1));
        check.note::<()>(&Err(StoreError::Unavailable("down".into())));
        assert!(check.check_within(&store, age).await.is_err());
        assert_eq!(check.check_within(&store, Duration::ZERO).await, Ok(()));
        store.close().await;
        assert_eq!(check.check_within(&store, age).await, Ok(()), "by the write before");
        assert!(check.check(&store).await.is_err());
    }
}

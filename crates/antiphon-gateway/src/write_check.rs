//! Checks whether the store accepts writes, and caches the result for a short time.
//!
//! A stored turn checks the store before it sends a request to a model, so that no model works in
//! vain. A successful write is trusted for a short time ([`StoreSettings::trusted_for`]), so a busy
//! gateway needs no extra writes. After that, the check makes one small write, which all waiting
//! turns share.
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

    /// Fails if the store accepts no writes.
    pub(crate) async fn check(&self, store: &dyn Store) -> Result<(), StoreError> {
        let asked = Instant::now();
        if let Some(known) = self.known_since(asked) {
            return known;
        }
        let _one_at_a_time = self.checking.lock().await;
        if let Some(known) = self.known_since(asked) {
            return known;
        }
        let written = store.check_writable().await;
        self.note(&written);
        written
    }

    /// The result, if it is known: from a recent successful write, or from a failure since `asked`.
    fn known_since(&self, asked: Instant) -> Option<Result<(), StoreError>> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        match last.error {
            None => (last.at.elapsed() < self.trusted_for).then_some(Ok(())),
            Some(error) => (last.at >= asked).then_some(Err(error)),
        }
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
}

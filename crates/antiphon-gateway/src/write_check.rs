//! Whether the store takes writes, remembered for a moment.
//!
//! A turn that is to be stored asks here before it asks a model: what cannot be stored is not asked.
//! A write that succeeded vouches for the store for a moment ([`StoreSettings::trusted_for`]), so that
//! a busy gateway asks nothing more than it writes anyway. After that, one small write is made, which
//! all turns that wait share.
//!
//! [`StoreSettings::trusted_for`]: crate::settings::StoreSettings::trusted_for

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use antiphon_store::{Store, StoreError};
use tokio::time::Instant;

/// What is known of the store.
pub(crate) struct WriteCheck {
    trusted_for: Duration,
    last: Mutex<Option<Last>>,
    checking: tokio::sync::Mutex<()>,
}

/// How the last write ended, and when.
#[derive(Clone, Debug)]
struct Last {
    at: Instant,
    error: Option<StoreError>,
}

impl WriteCheck {
    /// Of a store of which nothing is known yet.
    pub(crate) fn new(trusted_for: Duration) -> Self {
        Self { trusted_for, last: Mutex::default(), checking: tokio::sync::Mutex::default() }
    }

    /// Remembers how a write ended. A refusal shows that the store works.
    pub(crate) fn note<T>(&self, written: &Result<T, StoreError>) {
        let error = written.as_ref().err().filter(|error| error.is_outage());
        let last = Last { at: Instant::now(), error: error.cloned() };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
    }

    /// Fails if the store takes no writes.
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

    /// The answer, if it is known: from a write that succeeded lately, or from a failure since `asked`.
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

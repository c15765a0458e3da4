//! Deletes expired responses, and expired copies of turns.

use std::time::Duration;

use antiphon_store::{Store, StoreError};
use tokio::time::{Instant, sleep};

use crate::entropy::unix_now;

/// The interval between searches.
const PERIOD: Duration = Duration::from_mins(10);

/// The size of a batch. A concurrent commit waits for one batch at most.
const BATCH: usize = 32;

/// The minimum pause after a batch.
const PAUSE: Duration = Duration::from_millis(20);

/// The pause after a batch, as a multiple of the batch's duration. Expiry uses at most a fifth of
/// the store's time.
const REST: u32 = 4;

/// Deletes responses that are older than `retention`, and never returns. `None` deletes nothing.
pub(crate) async fn expire(store: &dyn Store, retention: Option<Duration>) {
    let Some(retention) = retention else { return std::future::pending().await };
    let retention = i64::try_from(retention.as_secs()).unwrap_or(i64::MAX);
    loop {
        match expire_all(store, unix_now().saturating_sub(retention)).await {
            Ok(0) => {}
            Ok(expired) => tracing::info!(expired, "deleted expired responses"),
            Err(error) => {
                tracing::warn!(%error, "could not delete expired responses; trying again later");
            }
        }
        sleep(PERIOD).await;
    }
}

/// The maximum size of all copies of one tenant.
const MAX_COPY_BYTES: u64 = 64 << 20;

/// Periodically deletes copies of turns that have expired, and never returns.
pub(crate) async fn expire_copies(store: &dyn Store) {
    loop {
        if let Err(error) = store.ledgers().expire_copies(unix_now(), MAX_COPY_BYTES).await {
            tracing::warn!(%error, "could not delete expired copies of turns; trying again later");
        }
        sleep(PERIOD).await;
    }
}

/// Deletes responses created before this time, in batches. Returns their number.
async fn expire_all(store: &dyn Store, created_before: i64) -> Result<usize, StoreError> {
    let mut expired = 0;
    loop {
        let begun = Instant::now();
        match store.expire_responses(created_before, BATCH).await? {
            0 => return Ok(expired),
            more => expired += more,
        }
        sleep((begun.elapsed() * REST).max(PAUSE)).await;
    }
}

//! Responses whose time is over.

use std::time::Duration;

use antiphon_store::{Store, StoreError};
use tokio::time::{Instant, sleep};

use crate::entropy::unix_now;

/// How often they are looked for.
const PERIOD: Duration = Duration::from_mins(10);

/// How many are deleted at a time. The turns that are committed meanwhile wait for no more.
const BATCH: usize = 32;

/// The pause behind a batch, at the least.
const PAUSE: Duration = Duration::from_millis(20);

/// The pause behind a batch, in times of what the batch took: of the store's time, expiry takes a fifth
/// at the most.
const REST: u32 = 4;

/// Deletes responses once they were kept for `retention`, from now on and for ever; none where there
/// is no such time.
pub(crate) async fn expire(store: &dyn Store, retention: Option<Duration>) {
    let Some(retention) = retention else { return std::future::pending().await };
    let retention = i64::try_from(retention.as_secs()).unwrap_or(i64::MAX);
    loop {
        match expire_all(store, unix_now().saturating_sub(retention)).await {
            Ok(0) => {}
            Ok(expired) => tracing::info!(expired, "deleted responses whose time was over"),
            Err(error) => tracing::warn!(%error, "responses whose time is over were not deleted"),
        }
        sleep(PERIOD).await;
    }
}

/// Deletes what was created before this time, batch by batch; says how many responses.
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

//! Deletes the event logs of responses that ended some time ago.

use std::time::Duration;

use antiphon_store::Store;

use crate::entropy::unix_now;

/// The time during which a response can be streamed again after its end, in seconds.
const RETENTION: i64 = 15 * 60;

/// The interval between searches for expired logs.
const PERIOD: Duration = Duration::from_mins(1);

/// The pause between two batches, so that deletions do not delay turns.
const PAUSE: Duration = Duration::from_millis(20);

/// The expiry of the log of a response that ends `now`, both in Unix seconds.
pub(crate) fn log_expiry(now: i64) -> i64 {
    now.saturating_add(RETENTION)
}

/// Deletes expired logs periodically, and never returns.
pub(crate) async fn expire(store: &dyn Store) {
    loop {
        tokio::time::sleep(PERIOD).await;
        loop {
            match store.background_jobs().expire(unix_now()).await {
                Ok(true) => tokio::time::sleep(PAUSE).await,
                Ok(false) => break,
                Err(error) => {
                    tracing::warn!(
                        %error,
                        "could not delete the expired logs of background responses"
                    );
                    break;
                }
            }
        }
    }
}

//! The logs of responses that ended some time ago.

use std::time::Duration;

use antiphon_store::Store;

use crate::entropy::unix_now;

/// How long a response can be streamed again behind its end, in seconds.
const KEPT: i64 = 15 * 60;

/// How often expired logs are looked for.
const PERIOD: Duration = Duration::from_mins(1);

/// The pause between two batches, so that deletions do not hold up turns.
const PAUSE: Duration = Duration::from_millis(20);

/// When the log of a response that ends `now` expires, both in Unix seconds.
pub(crate) fn expiry_of(now: i64) -> i64 {
    now.saturating_add(KEPT)
}

/// Deletes them from time to time, for ever.
pub(crate) async fn expire(store: &dyn Store) {
    loop {
        tokio::time::sleep(PERIOD).await;
        loop {
            match store.background().expire(unix_now()).await {
                Ok(true) => tokio::time::sleep(PAUSE).await,
                Ok(false) => break,
                Err(error) => {
                    tracing::warn!(%error, "events that expired could not be deleted");
                    break;
                }
            }
        }
    }
}

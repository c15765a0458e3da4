//! Delivers the notices that are due.

use std::time::Duration;

use antiphon_store::DueNotice;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::endpoint::{ATTEMPT, Endpoint, Outcome};
use super::schedule;
use crate::entropy::{random_byte, unix_now};
use crate::gateway::Gateway;

/// The maximum number of concurrent attempts.
const AT_ONCE: usize = 16;
/// The interval at which the store is read for due notices and for notices of other processes.
const PERIOD: Duration = Duration::from_secs(1);
/// The lifetime of a claim in seconds. After that, its holder has finished or died.
const CLAIM: i64 = 60;
const _: () = assert!(ATTEMPT.as_secs() * 2 < CLAIM.unsigned_abs());

/// Delivers due notices, and never returns. If it is dropped, the claims of its open attempts
/// expire, and another task claims them.
pub(crate) async fn tell(gateway: &Gateway) {
    if gateway.webhooks.endpoints.is_empty() {
        return std::future::pending().await;
    }
    let mut attempts = FuturesUnordered::new();
    loop {
        let room = AT_ONCE - attempts.len();
        tokio::select! {
            Some(()) = attempts.next() => {}
            () = gateway.webhooks.committed_within(PERIOD), if room > 0 => {
                let due = claimed(gateway, room).await;
                if due.len() == room {
                    // The store may have more.
                    gateway.webhooks.were_committed();
                }
                attempts.extend(due.into_iter().map(|due| attempt(gateway, due)));
            }
        }
    }
}

async fn claimed(gateway: &Gateway, limit: usize) -> Vec<DueNotice> {
    let now = unix_now();
    let due = gateway.store.claim_notices(now, now + CLAIM, limit).await;
    due.unwrap_or_else(|error| {
        tracing::warn!(%error, "what endpoints are to be told cannot be read");
        Vec::new()
    })
}

async fn attempt(gateway: &Gateway, due: DueNotice) {
    let then = match gateway.webhooks.endpoint(&due.notice.endpoint) {
        Some(endpoint) => attempted(endpoint, &due).await,
        None => unknown(&due),
    };
    if let Err(error) = gateway.store.settle_notice(&due, then).await {
        tracing::warn!(%error, id = due.notice.id, "a webhook is told again");
    }
}

/// Schedules a retry for an endpoint that is not configured here. Another process with newer
/// settings may have it.
fn unknown(due: &DueNotice) -> Option<i64> {
    let DueNotice { notice, attempt, .. } = due;
    let wait = schedule::wait(*attempt, None, random_byte());
    tracing::info!(id = notice.id, attempt, again_in = ?wait, "a webhook is not configured here");
    wait.map(behind)
}

/// The end of a wait that starts now, in Unix seconds.
fn behind(wait: Duration) -> i64 {
    unix_now().saturating_add(i64::try_from(wait.as_secs()).unwrap_or(i64::MAX))
}

/// Makes one attempt. Returns the time of the next one, or `None` if this was the last.
async fn attempted(endpoint: &Endpoint, due: &DueNotice) -> Option<i64> {
    let (host, id, attempt) = (endpoint.host(), &due.notice.id, due.attempt);
    match endpoint.tell(&due.notice, unix_now()).await {
        Outcome::OutgoingEvent => {
            tracing::debug!(host, id, attempt, "a webhook was told");
            None
        }
        Outcome::Gone => {
            tracing::warn!(host, id, attempt, "a webhook is gone; it is not told");
            None
        }
        Outcome::Failed(reason, told) => {
            let Some(wait) = schedule::wait(attempt, told, random_byte()) else {
                tracing::error!(host, id, attempt, %reason, "a webhook is given up");
                return None;
            };
            tracing::warn!(host, id, attempt, %reason, again_in = ?wait, "a webhook was not told");
            Some(behind(wait))
        }
    }
}

//! What waits to be told, and who tells it.

use std::time::Duration;

use antiphon_store::DueNotice;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::endpoint::{ATTEMPT, Endpoint, Outcome};
use super::schedule;
use crate::entropy::{random_byte, unix_now};
use crate::gateway::Gateway;

/// How many attempts are made at once.
const AT_ONCE: usize = 16;
/// How often is looked for what is due again, or was committed elsewhere.
const PERIOD: Duration = Duration::from_secs(1);
/// For how long a claim is good, in seconds: who holds it is done, or dead.
const CLAIM: i64 = 60;
const _: () = assert!(ATTEMPT.as_secs() * 2 < CLAIM.unsigned_abs());

/// Tells what is due, for ever. Dropped, it leaves what it is at to be claimed again.
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
                    // There may be more.
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

/// An endpoint that is not configured here may be with another process, which was started with newer
/// settings: it counts as one that failed.
fn unknown(due: &DueNotice) -> Option<i64> {
    let DueNotice { notice, attempt, .. } = due;
    let wait = schedule::wait(*attempt, None, random_byte());
    tracing::info!(id = notice.id, attempt, again_in = ?wait, "a webhook is not configured here");
    wait.map(behind)
}

/// When so long a wait is over that begins now, in Unix seconds.
fn behind(wait: Duration) -> i64 {
    unix_now().saturating_add(i64::try_from(wait.as_secs()).unwrap_or(i64::MAX))
}

/// When it is to be told again; `None` where it is not.
async fn attempted(endpoint: &Endpoint, due: &DueNotice) -> Option<i64> {
    let (host, id, attempt) = (endpoint.host(), &due.notice.id, due.attempt);
    match endpoint.tell(&due.notice, unix_now()).await {
        Outcome::Told => {
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

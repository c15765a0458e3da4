//! Delivers the notices that are due.

use std::time::Duration;

use antiphon_store::{ClaimedNotice, Store};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::Webhooks;
use super::endpoint::{ATTEMPT, Endpoint, Outcome};
use crate::entropy::{random_byte, unix_now};
use crate::metrics::WebhookMetrics;
use crate::retry::RetryPolicy;

/// The maximum number of concurrent attempts.
const MAX_ATTEMPTS: usize = 16;
/// The interval at which the store is read for due notices and for notices of other processes.
const PERIOD: Duration = Duration::from_secs(1);
/// The lifetime of a claim in seconds. After that, its holder has finished or died.
const CLAIM: i64 = 60;
const _: () = assert!(ATTEMPT.as_secs() * 2 < CLAIM.unsigned_abs());

/// Delivers due notices, and never returns. If it is dropped, the claims of its open attempts
/// expire, and another task claims them.
pub(crate) async fn deliver(webhooks: &Webhooks, store: &dyn Store, attempts: &WebhookMetrics) {
    if webhooks.endpoints.is_empty() {
        return std::future::pending().await;
    }
    let mut running = FuturesUnordered::new();
    loop {
        let room = MAX_ATTEMPTS - running.len();
        tokio::select! {
            Some(()) = running.next() => {}
            () = webhooks.committed_within(PERIOD), if room > 0 => {
                let due = claim(store, room).await;
                if due.len() == room {
                    // The store may have more.
                    webhooks.notify_committed();
                }
                let attempt = |due| attempt(webhooks, store, attempts, due);
                running.extend(due.into_iter().map(attempt));
            }
        }
    }
}

async fn claim(store: &dyn Store, limit: usize) -> Vec<ClaimedNotice> {
    let now = unix_now();
    let due = store.claim_notices(now, now + CLAIM, limit).await;
    due.unwrap_or_else(|error| {
        tracing::warn!(%error, "could not read which webhooks are due; trying again");
        Vec::new()
    })
}

async fn attempt(
    webhooks: &Webhooks,
    store: &dyn Store,
    attempts: &WebhookMetrics,
    due: ClaimedNotice,
) {
    let then = match webhooks.endpoint(&due.notice.endpoint) {
        Some(endpoint) => deliver_once(endpoint, attempts, &due).await,
        None => postpone_unknown(&due),
    };
    if let Err(error) = store.settle_notice(&due, then).await {
        tracing::warn!(
            %error, id = due.notice.id,
            "could not record the delivery of a webhook; it will be sent again"
        );
    }
}

/// Schedules a retry for an endpoint that is not configured here. Another process with newer
/// settings may have it.
fn postpone_unknown(due: &ClaimedNotice) -> Option<i64> {
    let ClaimedNotice { notice, attempt, .. } = due;
    let wait = wait_after(*attempt, None);
    tracing::info!(
        id = notice.id, attempt, again_in = ?wait,
        "the endpoint of a webhook is not configured here; trying again later"
    );
    wait.map(time_after)
}

/// The delay after attempt number `attempt`, from 1. `None` after the last one.
fn wait_after(attempt: u32, requested: Option<Duration>) -> Option<Duration> {
    RetryPolicy::WEBHOOK.delay(attempt.checked_sub(1)?, requested, random_byte())
}

/// The end of a wait that starts now, in Unix seconds.
fn time_after(wait: Duration) -> i64 {
    unix_now().saturating_add(i64::try_from(wait.as_secs()).unwrap_or(i64::MAX))
}

/// Makes one attempt. Returns the time of the next one, or `None` if this was the last.
async fn deliver_once(
    endpoint: &Endpoint,
    attempts: &WebhookMetrics,
    due: &ClaimedNotice,
) -> Option<i64> {
    let (host, id, attempt) = (endpoint.host(), &due.notice.id, due.attempt);
    match endpoint.send(&due.notice, unix_now()).await {
        Outcome::Delivered => {
            attempts.delivered.inc();
            tracing::debug!(host, id, attempt, "delivered a webhook");
            None
        }
        Outcome::Gone => {
            attempts.dropped.inc();
            tracing::warn!(
                host,
                id,
                attempt,
                "the endpoint of a webhook is gone; its event is dropped"
            );
            None
        }
        Outcome::Failed(reason, requested) => {
            let Some(wait) = wait_after(attempt, requested) else {
                attempts.dropped.inc();
                tracing::error!(
                    host, id, attempt, %reason,
                    "could not deliver a webhook; its event is dropped after the last attempt"
                );
                return None;
            };
            attempts.failed.inc();
            tracing::warn!(
                host, id, attempt, %reason, again_in = ?wait,
                "could not deliver a webhook; trying again"
            );
            Some(time_after(wait))
        }
    }
}

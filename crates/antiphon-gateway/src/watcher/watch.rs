//! A single watch: it polls one response until the end.

use antiphon::dialect::UpstreamApi;
use antiphon::provider_api::StoredResponse;
use antiphon_store::ClaimedNotice;
use http::StatusCode;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tracing::Instrument as _;

use super::outcome::WatchOutcome;
use super::{POLL, pause};
use crate::entropy::unix_now;
use crate::gateway::Gateway;
use crate::metrics::CountedTurn;
use crate::owner::Provider;
use crate::upstream::{HttpUpstream, UpstreamError};
use crate::watches::{FIRST_PAUSE, Watch, WatchedTurn};

impl Watch {
    /// Polls a claimed watch once. Returns the time of the next poll in Unix seconds, or `None` if
    /// the watch has ended.
    pub(super) async fn poll_claimed(claimed: ClaimedNotice, gateway: &Gateway) -> Option<i64> {
        let Some(turn) = WatchedTurn::read(&claimed.notice.body) else {
            return put_off_unreadable(&claimed, gateway).await;
        };
        let caller = turn.caller(&claimed.tenant);
        let watch = Self { committed: claimed, turn, caller };
        let span = watch.turn.span(&watch.caller, watch.upstream(gateway));
        async {
            let pause = watch.poll_once(gateway, watch.committed.attempt).await?;
            watch.put_off(gateway, pause).await
        }
        .instrument(span)
        .await
    }

    /// Polls until the response ends. `slots` limits the number of concurrent polls.
    pub(super) async fn poll_to_its_end(self, gateway: &Gateway, slots: &Semaphore) {
        let span = self.turn.span(&self.caller, self.upstream(gateway));
        async {
            let mut next = Some(Duration::from_secs(FIRST_PAUSE.unsigned_abs()));
            for attempt in 1.. {
                let Some(pause) = next else { return };
                sleep(pause).await;
                let _slot = slots.acquire().await.expect("the semaphore is never closed");
                next = self.poll_once(gateway, attempt).await;
            }
        }
        .instrument(span)
        .await;
    }

    pub(super) fn log_too_many(&self) {
        let span = self.turn.span(&self.caller, None);
        let response = &*self.committed.notice.id;
        span.in_scope(|| {
            tracing::warn!(
                response,
                "not watching a background response: too many are watched with callers' tokens; no \
                 webhook will be sent"
            );
        });
    }

    /// Polls once, and ends the watch if the response has ended or the time is over. Returns the
    /// pause until the next poll, or `None` after the end.
    async fn poll_once(&self, gateway: &Gateway, attempt: u32) -> Option<Duration> {
        let end = match self.poll(gateway).await {
            Ok(Some(response)) if response.is_underway() => None,
            Ok(Some(response)) => Some(WatchOutcome::Response(Box::new(response))),
            Ok(None) => Some(WatchOutcome::Gone),
            Err(reason) => {
                tracing::debug!(reason, "could not poll a background response");
                None
            }
        };
        let end = end.or_else(|| self.turn.is_over(unix_now()).then_some(WatchOutcome::Unknown));
        let Some(end) = end else { return Some(pause(attempt)) };
        self.end(gateway, &end).await.then_some(pause(attempt))
    }

    /// Reads the response. `None` if the upstream does not have it.
    async fn poll(&self, gateway: &Gateway) -> Result<Option<StoredResponse>, String> {
        if self.turn.needs_token() && self.caller.token.is_none() {
            return Err("the caller's token is not known here".to_owned());
        }
        let http = self.upstream(gateway).ok_or("the upstream is not configured here")?;
        let provider = Provider::new(http, &self.caller);
        match timeout(POLL, provider.response(&self.committed.notice.id)).await {
            Ok(Ok(response)) => Ok(Some(response)),
            Ok(Err(UpstreamError::Rejected(rejection)))
                if rejection.status == StatusCode::NOT_FOUND =>
            {
                Ok(None)
            }
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("the upstream did not answer in time".to_owned()),
        }
    }

    /// Commits the end of the watch together with its webhooks, and then logs it. Returns whether
    /// the watch must try again.
    async fn end(&self, gateway: &Gateway, end: &WatchOutcome) -> bool {
        let ClaimedNotice { tenant, notice, .. } = &self.committed;
        let status = end.status();
        let notices =
            status.map(|status| gateway.webhooks.notices(tenant, &notice.id, status, unix_now()));
        match gateway.store.watches().end(&self.committed, notices.unwrap_or_default()).await {
            Ok(true) => {
                gateway.webhooks.notify_committed();
                let cost = self.count(gateway, end);
                end.log(&notice.id, &self.turn, cost);
                false
            }
            // Another process ended the watch, or its tenant was erased.
            Ok(false) => false,
            Err(error) => {
                let response = &*notice.id;
                tracing::warn!(
                    response, %error,
                    "could not store the end of a background response; it will be polled again"
                );
                true
            }
        }
    }

    /// Counts the end of the turn in the metrics. Returns its cost.
    fn count(&self, gateway: &Gateway, end: &WatchOutcome) -> Option<f64> {
        let (status, result, model) = (end.status()?, end.result()?, self.turn.model());
        let cost = result.usage.and_then(|usage| gateway.settings.prices.cost(model, usage));
        let api = UpstreamApi::Responses.name();
        gateway.metrics.turns.count(&CountedTurn {
            outcome: status.as_str(),
            tenant: self.committed.tenant.as_str(),
            upstream: self.upstream(gateway).map(|http| (http.label(), api)),
            model: Some(model),
            error_code: result.failure.as_deref(),
            usage: result.usage,
            cost,
        });
        cost
    }

    async fn put_off(&self, gateway: &Gateway, pause: Duration) -> Option<i64> {
        let seconds = i64::try_from(pause.as_secs()).unwrap_or(i64::MAX);
        Some(put_off(&self.committed, gateway, unix_now().saturating_add(seconds)).await)
    }

    fn upstream<'g>(&self, gateway: &'g Gateway) -> Option<&'g HttpUpstream> {
        gateway.upstreams.by_base_url(&self.turn.upstream)
    }
}

/// Postpones a watch that this release cannot read. A newer release may have written it.
async fn put_off_unreadable(claimed: &ClaimedNotice, gateway: &Gateway) -> Option<i64> {
    let response = &*claimed.notice.id;
    tracing::warn!(response, "could not read the watch of a background response; trying again");
    let pause = i64::try_from(pause(claimed.attempt).as_secs()).unwrap_or(i64::MAX);
    Some(put_off(claimed, gateway, unix_now().saturating_add(pause)).await)
}

/// Postpones a claimed watch. If the store fails, the watch is due when its claim expires.
async fn put_off(claimed: &ClaimedNotice, gateway: &Gateway, until: i64) -> i64 {
    match gateway.store.watches().put_off(claimed, until).await {
        Ok(()) => until,
        Err(error) => {
            tracing::warn!(%error, "could not store when to poll a background response next");
            claimed.notice.due_at
        }
    }
}

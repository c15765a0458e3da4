//! A webhook endpoint.

use std::net::IpAddr;
use std::time::Duration;

use antiphon_store::{Notice, Tenant};
use http::{Method, Request, StatusCode, header};
use http_body_util::Full;
use tokio::time::timeout;

use super::address::AddressGuard;
use super::connector::{GuardedClient, client};
use super::message::sign;
use crate::USER_AGENT;
use crate::retry::retry_after;
use crate::settings::{Webhook, WebhookEvent};

/// An endpoint and its HTTP client.
pub(super) struct Endpoint {
    settings: Webhook,
    guard: AddressGuard,
    client: GuardedClient,
}

/// The result of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The endpoint accepted the event.
    Delivered,
    /// The endpoint answered 410 Gone.
    Gone,
    /// The attempt failed for this reason. The endpoint may have requested a delay.
    Failed(String, Option<Duration>),
}

/// The time limit of an attempt, up to the head of the answer. The body is not read.
pub(super) const ATTEMPT: Duration = Duration::from_secs(20);

impl Endpoint {
    pub(super) fn new(settings: &Webhook) -> Self {
        let guard = AddressGuard::new(settings);
        Self { client: client(guard.clone()), guard, settings: settings.clone() }
    }

    /// Whether the endpoint subscribes to this event of this tenant.
    pub(super) fn subscribes_to(&self, tenant: &Tenant, event: WebhookEvent) -> bool {
        let Webhook { tenants, events, .. } = &self.settings;
        (tenants.is_empty() || tenants.contains(tenant))
            && (events.is_empty() || events.contains(&event))
    }

    /// The host, for the log. The rest of the URL may be a secret.
    pub(super) fn host(&self) -> &str {
        self.settings.url.host().unwrap_or_default()
    }

    /// Sends the notice once, at `now` in Unix seconds.
    pub(super) async fn send(&self, notice: &Notice, now: i64) -> Outcome {
        if self.literal_address().is_some_and(|address| !self.guard.permits(address)) {
            return Outcome::Failed("its address may not be reached".to_owned(), None);
        }
        match timeout(ATTEMPT, self.client.request(self.request(notice, now))).await {
            Err(_) => Outcome::Failed(format!("it did not answer within {ATTEMPT:?}"), None),
            Ok(Err(error)) => Outcome::Failed(reason(&error), None),
            Ok(Ok(answer)) => match answer.status() {
                status if status.is_success() => Outcome::Delivered,
                StatusCode::GONE => Outcome::Gone,
                status => {
                    let wait = retry_after(answer.headers(), now);
                    Outcome::Failed(format!("it answered with status {status}"), wait)
                }
            },
        }
    }

    /// The IP address in the URL, if the URL has no host name.
    fn literal_address(&self) -> Option<IpAddr> {
        self.host().trim_start_matches('[').trim_end_matches(']').parse().ok()
    }

    fn request(&self, notice: &Notice, now: i64) -> Request<Full<bytes::Bytes>> {
        let Notice { id, body, .. } = notice;
        Request::builder()
            .method(Method::POST)
            .uri(self.settings.url.clone())
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::USER_AGENT, USER_AGENT)
            .header("webhook-id", id)
            .header("webhook-timestamp", now)
            .header("webhook-signature", sign(&self.settings.secret, id, now, body))
            .body(Full::new(body.clone()))
            .expect("ids and signatures are header values")
    }
}

/// The message of the innermost error.
fn reason(error: &(dyn std::error::Error + 'static)) -> String {
    let mut last = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    last.to_string()
}

#[cfg(test)]
mod tests;

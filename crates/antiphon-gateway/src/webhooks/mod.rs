//! Notifies endpoints of the operator when background responses end.
//!
//! A turn commits its notices ([`Webhooks::notices`]), and [`deliver`] delivers them after the
//! commit. Each notice is delivered at least once, by one process at a time and always with the
//! same `webhook-id`, until the endpoint accepts it or all attempts have failed. Signatures and
//! retries follow Standard Webhooks. An endpoint cannot direct the gateway to internal addresses:
//! each connection checks the address after name resolution, and redirects are not followed.

mod address;
mod connector;
mod endpoint;
mod message;
mod outbox;

use std::collections::HashMap;
use std::time::Duration;

use antiphon::stream::Status;
use antiphon_store::{Notice, Tenant};
use tokio::sync::Notify;
use tokio::time::timeout;

use self::endpoint::Endpoint;
pub(crate) use self::outbox::deliver;
use crate::settings::{Webhook, WebhookEvent};

/// The endpoints of a gateway.
pub(crate) struct Webhooks {
    /// By URL, which also identifies the endpoint in stored notices.
    endpoints: HashMap<String, Endpoint>,
    /// Notified when this process commits notices.
    committed: Notify,
}

impl Webhooks {
    /// Creates the endpoints. The error is a sentence about the invalid one.
    pub(crate) fn new(settings: &[Webhook]) -> Result<Self, String> {
        let mut endpoints = HashMap::new();
        for webhook in settings {
            if let Some(flaw) = webhook.flaw() {
                return Err(flaw.to_owned());
            }
            if endpoints.insert(webhook.url.to_string(), Endpoint::new(webhook)).is_some() {
                return Err("two webhooks have the same url".to_owned());
            }
        }
        Ok(Self { endpoints, committed: Notify::new() })
    }

    /// The notices about a response of `tenant` that ended at `now`, in Unix seconds. `response` is
    /// the public id. The turn commits the notices together with the end of the response, and then
    /// calls [`Webhooks::notify_committed`].
    pub(crate) fn notices(
        &self,
        tenant: &Tenant,
        response: &str,
        status: Status,
        now: i64,
    ) -> Vec<Notice> {
        let event = event_for(status);
        let wanting =
            self.endpoints.iter().filter(|(_, endpoint)| endpoint.subscribes_to(tenant, event));
        let mut wanting = wanting.map(|(url, _)| url).peekable();
        if wanting.peek().is_none() {
            return Vec::new();
        }
        let (id, body) = message::render(event, response, now);
        let notice = |url: &String| Notice {
            id: id.clone(),
            endpoint: url.clone(),
            due_at: now,
            body: body.clone(),
        };
        wanting.map(notice).collect()
    }

    /// Wakes the delivery task after a commit of notices.
    pub(crate) fn notify_committed(&self) {
        self.committed.notify_one();
    }

    /// Waits until this process commits notices, at most for `bound`.
    async fn committed_within(&self, bound: Duration) {
        // The result does not matter: the store may also have notices of other processes.
        drop(timeout(bound, self.committed.notified()).await);
    }

    fn endpoint(&self, url: &str) -> Option<&Endpoint> {
        self.endpoints.get(url)
    }
}

fn event_for(status: Status) -> WebhookEvent {
    match status {
        Status::Completed => WebhookEvent::Completed,
        Status::Failed => WebhookEvent::Failed,
        Status::Incomplete => WebhookEvent::Incomplete,
        Status::Cancelled => WebhookEvent::Cancelled,
    }
}

#[cfg(test)]
mod tests;

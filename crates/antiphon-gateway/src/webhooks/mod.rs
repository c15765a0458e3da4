//! Telling endpoints of the operator that responses in the background have ended.
//!
//! What is to be told is committed with the turn ([`Webhooks::notices`]) and told behind it
//! ([`tell`]): at least once, by one process at a time, with the same `webhook-id` however often, until
//! the endpoint answers well or all attempts have failed. Messages are signed and retried as Standard
//! Webhooks has it. An endpoint cannot make the gateway reach inside its own network: the address is
//! looked at after it was resolved, for each connection, and redirections are not followed.

mod address;
mod connector;
mod endpoint;
mod event;
mod outbox;
mod schedule;
mod signature;

use std::collections::HashMap;
use std::time::Duration;

use antiphon::stream::Status;
use antiphon_store::{Notice, Tenant};
use tokio::sync::Notify;
use tokio::time::timeout;

use self::endpoint::Endpoint;
pub(crate) use self::outbox::tell;
use crate::settings::{Webhook, WebhookEvent};

/// The endpoints of a gateway.
pub(crate) struct Webhooks {
    /// By their URLs, which notices are kept under.
    endpoints: HashMap<String, Endpoint>,
    /// Told when notices were committed here.
    committed: Notify,
}

impl Webhooks {
    /// These endpoints, or what is wrong with one of them, as a sentence.
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

    /// What is to be told of a response of `tenant` that ended at `now`, in Unix seconds. `response` is
    /// the id that callers know. The notices belong into the commit of the end;
    /// [`Webhooks::were_committed`] comes after that.
    pub(crate) fn notices(
        &self,
        tenant: &Tenant,
        response: &str,
        status: Status,
        now: i64,
    ) -> Vec<Notice> {
        let event = event_of(status);
        let wanting = self.endpoints.iter().filter(|(_, endpoint)| endpoint.wants(tenant, event));
        let mut wanting = wanting.map(|(url, _)| url).peekable();
        if wanting.peek().is_none() {
            return Vec::new();
        }
        let (id, body) = event::render(event, response, now);
        let notice = |url: &String| Notice {
            id: id.clone(),
            endpoint: url.clone(),
            due_at: now,
            body: body.clone(),
        };
        wanting.map(notice).collect()
    }

    /// Notices were committed: they are told at once.
    pub(crate) fn were_committed(&self) {
        self.committed.notify_one();
    }

    /// Waits until notices were committed here, for so long.
    async fn committed_within(&self, bound: Duration) {
        // Whether they were does not matter: what other processes committed is looked for too.
        drop(timeout(bound, self.committed.notified()).await);
    }

    fn endpoint(&self, url: &str) -> Option<&Endpoint> {
        self.endpoints.get(url)
    }
}

fn event_of(status: Status) -> WebhookEvent {
    match status {
        Status::Completed => WebhookEvent::Completed,
        Status::Failed => WebhookEvent::Failed,
        Status::Incomplete => WebhookEvent::Incomplete,
        Status::Cancelled => WebhookEvent::Cancelled,
    }
}

#[cfg(test)]
mod tests;

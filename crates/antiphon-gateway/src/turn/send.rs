//! Sending the request, and sending it again where a server says what it wants otherwise.

use antiphon::dialect::{Dialect, with_reasoning_stood_in};
use bytes::Bytes;

use super::plan::Plan;
use super::{Turn, encode};
use crate::settings::Faults;
use crate::upstream::{Reply, Upstream, UpstreamError};

/// A request that is being answered.
pub(super) struct Sent {
    pub(super) reply: Reply,
    /// How many calls went with something in place of the reasoning that they were made with.
    pub(super) stood_in: usize,
}

impl Sent {
    fn as_planned(reply: Reply) -> Self {
        Self { reply, stood_in: 0 }
    }
}

impl Turn<'_> {
    /// Sends the request.
    pub(super) async fn send(
        &self,
        plan: &Plan,
        upstream: Upstream<'_>,
    ) -> Result<Sent, UpstreamError> {
        match &plan.encoded {
            Some(body) if upstream.api() == Dialect::Chat => {
                self.send_as_chat(plan, body, upstream).await
            }
            Some(body) => upstream.send(body.clone(), self.caller).await.map(Sent::as_planned),
            None => self.send_with_encryption(plan, upstream).await.map(Sent::as_planned),
        }
    }

    /// A model that refuses to be asked for encrypted reasoning is asked again without, and
    /// remembered.
    async fn send_with_encryption(
        &self,
        plan: &Plan,
        upstream: Upstream<'_>,
    ) -> Result<Reply, UpstreamError> {
        let refusing = &self.gateway.upstreams.without_encryption;
        let encrypted = !refusing.contain(&plan.origin);
        let body = encode::encode(self.request, &plan.view, encrypted);
        match upstream.send(body, self.caller).await {
            Err(error) if encrypted && error.refuses_encryption() => {
                refusing.remember(&plan.origin);
                let body = encode::encode(self.request, &plan.view, false);
                upstream.send(body, self.caller).await
            }
            reply => reply,
        }
    }

    /// A model that refuses calls without reasoning, where a client lost it, is asked again with
    /// something in its place, and remembered.
    async fn send_as_chat(
        &self,
        plan: &Plan,
        body: &Bytes,
        upstream: Upstream<'_>,
    ) -> Result<Sent, UpstreamError> {
        let wanting = &self.gateway.upstreams.wanting_reasoning;
        if !wanting.contain(&plan.origin) {
            match upstream.send(body.clone(), self.caller).await {
                Err(error) if error.wants_reasoning() && self.mends() => {
                    wanting.remember(&plan.origin);
                }
                reply => return reply.map(Sent::as_planned),
            }
        }
        let (body, stood_in) = with_reasoning_stood_in(body).unwrap_or((body.clone(), 0));
        let reply = upstream.send(body, self.caller).await?;
        Ok(Sent { reply, stood_in })
    }

    fn mends(&self) -> bool {
        self.gateway.settings.faults == Faults::Repair
    }
}

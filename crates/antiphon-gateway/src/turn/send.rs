//! Sends the request. Retries if the upstream failed to answer or asks for a different form.

use antiphon::Origin;
use antiphon::dialect::{UpstreamApi, with_placeholder_reasoning};
use bytes::Bytes;

use super::encode::UpstreamOptions;
use super::fallback_prompt::FallbackPrompt;
use super::plan::{Plan, Prompt};
use super::{Turn, encode};
use crate::settings::Faults;
use crate::upstream::{Reply, RetrySession, UpstreamError};

/// A request that the upstream accepted, and its reply.
pub(super) struct Sent {
    reply: Reply,
    /// The number of calls sent with a placeholder for their reasoning.
    stood_in: usize,
    /// The fallback prompt, if it replaced the planned one.
    instead: Option<FallbackPrompt>,
}

impl Sent {
    fn as_planned(reply: Reply) -> Self {
        Self { reply, stood_in: 0, instead: None }
    }

    /// Returns the reply and adds to the plan's report how it was obtained.
    pub(super) fn told_in(self, plan: &mut Plan) -> Reply {
        plan.report.reasoning_stood_in(self.stood_in);
        if let Some(instead) = self.instead {
            instead.takes_the_place_in(plan);
        }
        self.reply
    }
}

impl Turn<'_> {
    /// Sends the request and retries while a retry can help. If the error asks for a change, the
    /// retry sends a fallback prompt; if the upstream failed to answer, it sends the same request.
    pub(super) async fn send(
        &self,
        plan: &Plan,
        asking: &mut RetrySession<'_>,
    ) -> Result<Sent, UpstreamError> {
        let mut instead: Option<FallbackPrompt> = None;
        loop {
            let prompt = instead.as_ref().map_or(&plan.prompt, |instead| &instead.prompt);
            let error = match self.send_prompt(prompt, &plan.origin, asking).await {
                Ok(sent) => return Ok(Sent { instead, ..sent }),
                Err(error) => error,
            };
            if let Some(other) = self.otherwise(&error, prompt, plan, asking).await {
                instead = Some(other.behind(instead));
            } else if !asking.backoff(&error).await {
                return Err(self.explained(error, prompt).await);
            }
        }
    }

    /// The fallback after the upstream rejected a prompt: without the encrypted reasoning that it
    /// cannot read, or with fewer items.
    async fn otherwise(
        &self,
        error: &UpstreamError,
        prompt: &Prompt,
        plan: &Plan,
        asking: &mut RetrySession<'_>,
    ) -> Option<FallbackPrompt> {
        if error.refuses_reasoning() && self.mends() {
            return self.without_reasoning(prompt, &plan.origin, asking.upstream());
        }
        self.shortened(error, prompt, plan, asking).await
    }

    async fn send_prompt(
        &self,
        prompt: &Prompt,
        origin: &Origin,
        asking: &RetrySession<'_>,
    ) -> Result<Sent, UpstreamError> {
        match &prompt.encoded {
            Some(body) if asking.upstream().api() == UpstreamApi::Chat => {
                self.send_as_chat(body, origin, asking).await
            }
            Some(body) => asking.send(body.clone(), self.caller).await.map(Sent::as_planned),
            None => self.send_with_encryption(prompt, origin, asking).await.map(Sent::as_planned),
        }
    }

    /// Sends the request. If the model rejects a request for encrypted reasoning, sends it without
    /// and remembers this for the model.
    async fn send_with_encryption(
        &self,
        prompt: &Prompt,
        origin: &Origin,
        asking: &RetrySession<'_>,
    ) -> Result<Reply, UpstreamError> {
        let refusing = &self.gateway.upstreams.without_encryption;
        let compaction = self.is_compacted_there(asking.upstream(), origin);
        let encoded = |encrypted| {
            encode::encode(self.request, &prompt.view, UpstreamOptions { encrypted, compaction })
        };
        let encrypted = !refusing.contain(origin);
        let body = encoded(encrypted);
        match asking.send(body, self.caller).await {
            Err(error) if encrypted && error.refuses_encryption() => {
                refusing.remember(origin);
                asking.send(encoded(false), self.caller).await
            }
            reply => reply,
        }
    }

    /// Sends the request over the Chat Completions API. If the model rejects calls whose reasoning
    /// the client has lost, sends it with a placeholder and remembers this for the model.
    async fn send_as_chat(
        &self,
        body: &Bytes,
        origin: &Origin,
        asking: &RetrySession<'_>,
    ) -> Result<Sent, UpstreamError> {
        let wanting = &self.gateway.upstreams.wanting_reasoning;
        if !wanting.contain(origin) {
            match asking.send(body.clone(), self.caller).await {
                Err(error) if error.wants_reasoning() && self.mends() => wanting.remember(origin),
                reply => return reply.map(Sent::as_planned),
            }
        }
        let (body, stood_in) = with_placeholder_reasoning(body).unwrap_or((body.clone(), 0));
        let reply = asking.send(body, self.caller).await?;
        Ok(Sent { stood_in, ..Sent::as_planned(reply) })
    }

    pub(super) fn mends(&self) -> bool {
        self.gateway.settings.faults == Faults::Repair
    }
}

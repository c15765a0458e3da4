//! Sending the request, and sending it again where a server says what it wants otherwise, or failed
//! to answer.

use antiphon::Origin;
use antiphon::dialect::{Dialect, with_reasoning_stood_in};
use bytes::Bytes;

use super::encode::Beside;
use super::lean::Lean;
use super::plan::{Plan, Prompt};
use super::{Turn, encode};
use crate::settings::Faults;
use crate::upstream::{Asking, Reply, UpstreamError};

/// A request that is being answered.
pub(super) struct Sent {
    reply: Reply,
    /// How many calls went with something in place of the reasoning that they were made with.
    stood_in: usize,
    /// What was sent in place of what was planned.
    lean: Option<Lean>,
}

impl Sent {
    fn as_planned(reply: Reply) -> Self {
        Self { reply, stood_in: 0, lean: None }
    }

    /// The reply. How the request came to be answered is told in the plan's report.
    pub(super) fn told_in(self, plan: &mut Plan) -> Reply {
        plan.report.reasoning_stood_in(self.stood_in);
        if let Some(lean) = self.lean {
            lean.takes_the_place_in(plan);
        }
        self.reply
    }
}

impl Turn<'_> {
    /// Sends the request, and sends it again while that may help.
    pub(super) async fn send(
        &self,
        plan: &Plan,
        asking: &mut Asking<'_>,
    ) -> Result<Sent, UpstreamError> {
        loop {
            match self.send_readable(plan, asking).await {
                Err(error) if asking.may_ask_again(&error).await => {}
                sent => return sent,
            }
        }
    }

    /// An upstream that cannot read the encrypted reasoning that it is given is asked once more
    /// without.
    async fn send_readable(&self, plan: &Plan, asking: &Asking<'_>) -> Result<Sent, UpstreamError> {
        let refusal = match self.send_prompt(&plan.prompt, &plan.origin, asking).await {
            Err(error) if error.refuses_reasoning() && self.mends() => error,
            sent => return sent,
        };
        let Some(lean) = self.without_reasoning(plan, asking.upstream()) else {
            return Err(refusal);
        };
        let sent = self.send_prompt(lean.prompt(), &plan.origin, asking).await?;
        Ok(Sent { lean: Some(lean), ..sent })
    }

    async fn send_prompt(
        &self,
        prompt: &Prompt,
        origin: &Origin,
        asking: &Asking<'_>,
    ) -> Result<Sent, UpstreamError> {
        match &prompt.encoded {
            Some(body) if asking.upstream().api() == Dialect::Chat => {
                self.send_as_chat(body, origin, asking).await
            }
            Some(body) => asking.send(body.clone(), self.caller).await.map(Sent::as_planned),
            None => self.send_with_encryption(prompt, origin, asking).await.map(Sent::as_planned),
        }
    }

    /// A model that refuses to be asked for encrypted reasoning is asked again without, and
    /// remembered.
    async fn send_with_encryption(
        &self,
        prompt: &Prompt,
        origin: &Origin,
        asking: &Asking<'_>,
    ) -> Result<Reply, UpstreamError> {
        let refusing = &self.gateway.upstreams.without_encryption;
        let compaction = self.is_compacted_there(asking.upstream(), origin);
        let encoded = |encrypted| {
            encode::encode(self.request, &prompt.view, Beside { encrypted, compaction })
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

    /// A model that refuses calls without reasoning, where a client lost it, is asked again with
    /// something in its place, and remembered.
    async fn send_as_chat(
        &self,
        body: &Bytes,
        origin: &Origin,
        asking: &Asking<'_>,
    ) -> Result<Sent, UpstreamError> {
        let wanting = &self.gateway.upstreams.wanting_reasoning;
        if !wanting.contain(origin) {
            match asking.send(body.clone(), self.caller).await {
                Err(error) if error.wants_reasoning() && self.mends() => wanting.remember(origin),
                reply => return reply.map(Sent::as_planned),
            }
        }
        let (body, stood_in) = with_reasoning_stood_in(body).unwrap_or((body.clone(), 0));
        let reply = asking.send(body, self.caller).await?;
        Ok(Sent { stood_in, ..Sent::as_planned(reply) })
    }

    fn mends(&self) -> bool {
        self.gateway.settings.faults == Faults::Repair
    }
}

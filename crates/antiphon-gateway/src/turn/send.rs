//! Sends a prompt. Retries if the upstream failed to answer or asks for a different form.

use antiphon::Origin;
use antiphon::dialect::{UpstreamApi, with_placeholder_reasoning};
use bytes::Bytes;

use super::encode::{self, UpstreamOptions};
use super::fallback_prompt::FallbackPrompt;
use super::plan::{Plan, Planner, Prompt};
use crate::chunks::Chunks;
use crate::span::ErrorType as _;
use crate::trace::ChatSpan;
use crate::upstream::{Reply, RetrySession, UpstreamError};

/// A request that the upstream accepted, and its reply.
pub(super) struct Sent {
    reply: Reply,
    /// The number of calls sent with a placeholder for their reasoning.
    placeholders: usize,
    /// The fallback prompt, if it replaced the planned one.
    fallback: Option<FallbackPrompt>,
}

impl Sent {
    fn as_planned(reply: Reply) -> Self {
        Self { reply, placeholders: 0, fallback: None }
    }

    /// Adds to the plan's report how the reply was obtained, and returns the reply.
    pub(super) fn report_in(self, plan: &mut Plan) -> Reply {
        plan.report.changes.reasoning_placeholders(self.placeholders);
        if let Some(fallback) = self.fallback {
            fallback.replace_in(plan);
        }
        self.reply
    }
}

/// Sends the prompts of one answer, with retries until its time limit.
pub(super) struct PromptSender<'a> {
    pub(super) planner: Planner<'a>,
    session: RetrySession<'a>,
}

impl<'a> PromptSender<'a> {
    /// Starts the time limit of the answer.
    pub(super) fn new(planner: Planner<'a>) -> Self {
        let request = planner.turn.request;
        let form = planner.upstream.answer_form(request.stream || request.background);
        let session = RetrySession::new(planner.upstream, &request.model);
        Self { planner, session: session.with_form(form) }
    }
}

impl PromptSender<'_> {
    /// Sends the request and retries while a retry can help. If the error asks for a change, the
    /// retry sends a fallback prompt; if the upstream failed to answer, it sends the same request.
    pub(super) async fn send(&mut self, plan: &Plan) -> Result<Sent, UpstreamError> {
        self.planner.turn.clock.mark_asked();
        self.begin_chat(plan);
        let mut fallback: Option<FallbackPrompt> = None;
        loop {
            let prompt = fallback.as_ref().map_or(&plan.prompt, |fallback| &fallback.prompt);
            let error = match self.send_prompt(prompt, &plan.origin).await {
                Ok(sent) => return Ok(Sent { fallback, ..sent }),
                Err(error) => error,
            };
            if let Some(other) = self.find_fallback(&error, prompt, plan).await {
                fallback = Some(other.after(fallback));
            } else if !self.backoff(&error).await {
                let error = self.planner.explain(error, prompt).await;
                self.chat().fail(&error.error_type());
                return Err(error);
            }
        }
    }

    fn begin_chat(&mut self, plan: &Plan) {
        let turn = self.planner.turn;
        self.session.begin_chat(&turn.trace, turn.request, &plan.prompt.view);
        if turn.trace.is_recording() && (plan.preface.is_some() || plan.continues_compaction()) {
            self.chat().record_compaction();
        }
    }

    /// The span of the model's answer.
    pub(super) fn chat(&mut self) -> &mut ChatSpan {
        self.session.chat()
    }

    /// Ends the requests. Returns the span of the answer, which the code that reads it completes.
    pub(super) fn into_chat(self) -> ChatSpan {
        self.session.into_chat()
    }

    /// Waits before a retry. Returns `false` if a retry cannot help.
    pub(super) async fn backoff(&mut self, error: &UpstreamError) -> bool {
        self.session.backoff(error).await
    }

    /// The number of retries so far.
    pub(super) fn retries(&self) -> u32 {
        self.session.retries()
    }

    /// A shorter prompt after the upstream rejected this one as too long.
    pub(super) async fn shorten(
        &mut self,
        error: &UpstreamError,
        prompt: &Prompt,
        plan: &Plan,
    ) -> Option<FallbackPrompt> {
        self.planner.shorten(error, prompt, plan, &mut self.session).await
    }

    /// The fallback after the upstream rejected a prompt: without the encrypted reasoning that it
    /// cannot read, or with fewer items.
    async fn find_fallback(
        &mut self,
        error: &UpstreamError,
        prompt: &Prompt,
        plan: &Plan,
    ) -> Option<FallbackPrompt> {
        if error.rejects_reasoning() && self.planner.turn.repairs() {
            return self.planner.without_reasoning(prompt, &plan.origin);
        }
        self.shorten(error, prompt, plan).await
    }

    async fn send_prompt(&self, prompt: &Prompt, origin: &Origin) -> Result<Sent, UpstreamError> {
        match &prompt.encoded {
            Some(body) if self.planner.upstream.api() == UpstreamApi::Chat => {
                self.send_as_chat(body, origin).await
            }
            Some(body) => self.send_body(body.clone()).await.map(Sent::as_planned),
            None => self.send_with_encryption(prompt, origin).await.map(Sent::as_planned),
        }
    }

    /// Sends the request. If the model rejects a request for encrypted reasoning, sends it without
    /// and remembers this for the model.
    async fn send_with_encryption(
        &self,
        prompt: &Prompt,
        origin: &Origin,
    ) -> Result<Reply, UpstreamError> {
        let turn = self.planner.turn;
        let without = &turn.gateway.upstreams.without_encryption;
        let compaction = self.planner.upstream_compacts(origin);
        let encoded = |encrypted| {
            let options = UpstreamOptions { form: self.session.form(), encrypted, compaction };
            encode::encode(turn.request, &prompt.view, options)
        };
        let encrypted = !without.contains(origin);
        match self.send_body(encoded(encrypted)).await {
            Err(error) if encrypted && error.rejects_encryption() => {
                without.insert(origin);
                self.send_body(encoded(false)).await
            }
            reply => reply,
        }
    }

    /// Sends the request over the Chat Completions API. If the model rejects calls whose reasoning
    /// the client has lost, sends it with a placeholder and remembers this for the model.
    async fn send_as_chat(&self, body: &Bytes, origin: &Origin) -> Result<Sent, UpstreamError> {
        let turn = self.planner.turn;
        let requiring = &turn.gateway.upstreams.requiring_reasoning;
        if !requiring.contains(origin) {
            match self.send_body(body.clone()).await {
                Err(error) if error.requires_reasoning() && turn.repairs() => {
                    requiring.insert(origin);
                }
                reply => return reply.map(Sent::as_planned),
            }
        }
        let (body, placeholders) = with_placeholder_reasoning(body).unwrap_or((body.clone(), 0));
        let reply = self.send_body(body).await?;
        Ok(Sent { placeholders, ..Sent::as_planned(reply) })
    }

    async fn send_body(&self, body: impl Into<Chunks>) -> Result<Reply, UpstreamError> {
        self.session.send(body, self.planner.turn.caller).await
    }
}

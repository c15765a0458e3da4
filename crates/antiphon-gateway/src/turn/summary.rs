//! Summarizes a history with the model of the request.

use antiphon::dialect::RequestContext;
use antiphon::json::Object;
use antiphon::stream::{Envelope, Finished, Status, UsedIds};
use antiphon::{Item, Kind, Transcript};

use super::Turn;
use super::plan::Plan;
use super::relay::ResponseReader;
use super::report::Report;
use crate::compaction::{compaction_item, request_for_summary};
use crate::entropy::unix_now;
use crate::error::ApiError;
use crate::upstream::{Reply, RetrySession, Upstream, UpstreamError};

/// A model's summary of a history.
pub(super) struct Summary {
    /// The compaction item with the summary.
    pub(super) compaction: Item,
    /// The usage of the summary in the form of the API; `None` if the upstream reports none.
    pub(super) usage: Option<String>,
    /// The changes to the history before it was summarized.
    pub(super) report: Report,
}

impl Turn<'_> {
    /// Asks the model to summarize the plan's view, in a separate request that changes nothing. An
    /// incomplete summary is an error.
    pub(super) async fn summary(
        &self,
        plan: &Plan,
        upstream: Upstream<'_>,
    ) -> Result<Summary, ApiError> {
        let (request, prompt) = request_for_summary(self.request);
        let turn = Turn { request: &request, ..self.clone() };
        let is_trigger = |item: &&Item| item.head().kind == Kind::CompactionTrigger;
        let view = plan.prompt.view.iter().filter(|item| !is_trigger(item));
        let view: Vec<Item> = view.cloned().chain([prompt]).collect();
        let mut report = Report::new(0);
        let prompt = turn.prompt(view, upstream, &plan.origin, &mut report)?;
        let mut plan = plan.of_summary(prompt, report);
        turn.fit(&mut plan, upstream).await?;
        let finished = turn.written(&mut plan, upstream).await?;
        let text = text_of(&finished).ok_or_else(|| ApiError::SummaryIncomplete)?;
        let content = self.gateway.compaction_key.seal_summary(&self.caller.tenant, &text);
        let (compaction, usage) = (compaction_item(&content), usage_of(&finished));
        Ok(Summary { compaction, usage, report: plan.report })
    }

    /// The complete answer. Retries while that can help, because no client has seen any of it.
    async fn written(
        &self,
        plan: &mut Plan,
        upstream: Upstream<'_>,
    ) -> Result<Finished, UpstreamError> {
        let mut asking = RetrySession::of(upstream, &self.request.model);
        loop {
            let reply = self.send(plan, &mut asking).await?.told_in(plan);
            match self.heard_out(reply, plan, upstream).await {
                Err(error) if asking.backoff(&error).await => {}
                finished => return finished,
            }
        }
    }

    async fn heard_out(
        &self,
        reply: Reply,
        plan: &Plan,
        upstream: Upstream<'_>,
    ) -> Result<Finished, UpstreamError> {
        let fields = self.request.object();
        let envelope = Envelope::new("", unix_now(), &fields, None);
        let assembler = self.assembler(envelope, UsedIds::from_transcript(&Transcript::default()));
        let asked = RequestContext::from_request(&fields, plan.origin.clone());
        let hearing = ResponseReader::new(upstream.api(), asked, assembler);
        hearing.bounded(upstream.max_event()).hear_out(reply).await
    }
}

/// The text of a completed answer's messages; `None` if it is incomplete or empty.
fn text_of(finished: &Finished) -> Option<String> {
    let items = finished.output.iter().filter_map(|output| output.item.as_ref());
    let messages = items.filter(|item| item.head().kind == Kind::Message);
    let text = messages.map(|item| spoken(&item.object())).collect::<Vec<_>>().join("\n");
    (finished.status == Status::Completed && !text.trim().is_empty()).then_some(text)
}

fn spoken(message: &Object<'_>) -> String {
    let content = message.present("content").unwrap_or("[]");
    let parts: Vec<Object<'_>> = serde_json::from_str(content).unwrap_or_default();
    parts.iter().filter_map(|part| part.string("text")).collect()
}

fn usage_of(finished: &Finished) -> Option<String> {
    let response = Object::parse_str(&finished.response).ok()?;
    response.present("usage").map(str::to_owned)
}

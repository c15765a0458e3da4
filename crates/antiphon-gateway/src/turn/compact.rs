//! Compacts a long history during a turn, if the request asks for it.

use antiphon::item::Tool;
use antiphon::stream::{Finished, Status};
use antiphon::{Item, Kind, Origin};
use bytes::Bytes;

use super::error::TurnError;
use super::open::Opened;
use super::plan::Plan;
use super::{Client, Turn};
use crate::compaction::Sealing;
use crate::error::ApiError;
use crate::request::CompactionTrigger;
use crate::tokens;
use crate::upstream::{Reply, RetrySession, Upstream};

/// Items since the last compaction are compacted only above the threshold divided by this.
/// Otherwise a history with many user messages would be compacted in every turn.
const AGAIN: u64 = 4;

/// The empty remainder of an answer that consists of the compaction.
const NOTHING_MORE: &[u8] = br#"{"object":"response","status":"completed","output":[]}"#;

impl Turn<'_> {
    /// Compacts the history if the request asks for it and the upstream does not do it, then sends
    /// the request.
    ///
    /// If an upstream rejects the request to compact, the gateway remembers this and compacts
    /// itself.
    pub(super) async fn ask_of_compacted(
        &self,
        opened: &Opened,
        plan: &mut Plan,
        asking: &mut RetrySession<'_>,
        client: &mut Client,
    ) -> Result<Reply, TurnError> {
        if self.is_compacted_there(asking.upstream(), &plan.origin) {
            match self.ask_readably(opened, plan, asking, client).await {
                Err(TurnError::Failed(ApiError::Upstream(refused)))
                    if refused.refuses_compaction() =>
                {
                    self.gateway.upstreams.without_compaction.remember(&plan.origin);
                }
                reply => return reply,
            }
        }
        self.compact(opened, plan, asking.upstream(), client).await?;
        if self.is_answered_by_compaction(plan) {
            self.record_opening(opened, plan).await?;
            return Ok(Reply::Whole(Bytes::from_static(NOTHING_MORE)));
        }
        self.fit(plan, asking.upstream()).await?;
        *asking = asking.restarted();
        self.ask_readably(opened, plan, asking, client).await
    }

    /// Sends the request. If the upstream cannot read its own compaction any more, because its keys
    /// have changed, sends the items that it replaced, if they are stored. Otherwise returns the
    /// upstream's error.
    async fn ask_readably(
        &self,
        opened: &Opened,
        plan: &mut Plan,
        asking: &mut RetrySession<'_>,
        client: &mut Client,
    ) -> Result<Reply, TurnError> {
        let refusal = match self.ask(opened, plan, asking, client).await {
            Err(TurnError::Failed(ApiError::Upstream(refused)))
                if refused.refuses_reasoning() && self.mends() =>
            {
                refused
            }
            reply => return reply,
        };
        let is_compaction = |item: &Item| item.head().kind == Kind::Compaction;
        let is_expanded = plan.prompt.view.iter().any(is_compaction)
            && self.expanded(plan, asking.upstream()).is_ok();
        match is_expanded {
            true => self.ask(opened, plan, asking, client).await,
            false => Err(ApiError::Upstream(refusal).into()),
        }
    }

    /// Whether the upstream compacts the history for this request.
    pub(super) fn is_compacted_there(&self, upstream: Upstream<'_>, origin: &Origin) -> bool {
        let refusing = &self.gateway.upstreams.without_compaction;
        self.request.compaction != CompactionTrigger::None
            && upstream.is_responses_server()
            && !refusing.contain(origin)
    }

    /// Whether the gateway's compaction is the whole answer.
    pub(super) fn is_answered_by_compaction(&self, plan: &Plan) -> bool {
        self.request.compaction == CompactionTrigger::Now && plan.preface.is_some()
    }

    /// Compacts the history if that is due. After a failed compaction the turn continues with the
    /// whole history and reports this, unless the compaction would have been the whole answer.
    async fn compact(
        &self,
        opened: &Opened,
        plan: &mut Plan,
        upstream: Upstream<'_>,
        client: &mut Client,
    ) -> Result<(), TurnError> {
        if !self.is_due(plan).await? {
            return Ok(());
        }
        let summary = tokio::select! {
            summary = self.summary(plan, upstream) => summary,
            reason = self.left(client) => return Err(TurnError::Cancelled(reason)),
            () = opened.conversation_deleted() => {
                return Err(ApiError::ConversationDeleted.into());
            }
        };
        match summary {
            Ok(summary) => {
                self.compacted(plan, summary.compaction, summary.usage, upstream)?;
                plan.report.truncated_too(summary.report);
            }
            Err(error) if self.request.compaction == CompactionTrigger::Now => {
                return Err(error.into());
            }
            Err(error) => plan.report.compaction_failed(&error),
        }
        Ok(())
    }

    /// Whether there is enough to compact: more tokens than the request allows, and not only in the
    /// user's messages, which always stay. After a compaction, enough new items are needed too.
    async fn is_due(&self, plan: &Plan) -> Result<bool, ApiError> {
        let threshold = match self.request.compaction {
            CompactionTrigger::None => return Ok(false),
            CompactionTrigger::Now => return Ok(true),
            CompactionTrigger::Above(threshold) => threshold,
        };
        let (fields, view) = (&self.request.fields, &plan.prompt.view);
        if !view.iter().any(is_compactable) || tokens::surely_fits(fields, view, threshold) {
            return Ok(false);
        }
        let weights = tokens::weigh(fields, view).await?;
        let weighed = view.iter().zip(&weights.items);
        let compactable: u64 =
            weighed.filter(|(item, _)| is_compactable(item)).map(|it| it.1).sum();
        let is_worth_it = !was_compacted(plan) || compactable >= threshold / AGAIN;
        Ok(weights.total() > threshold && is_worth_it)
    }

    /// Remembers an upstream that let a history exceed the threshold without compacting it: from
    /// the next turn on, the gateway compacts. If the upstream ran its own tools, its token count
    /// proves nothing, because it adds up the input of several steps.
    pub(super) fn learn_of_compaction(&self, plan: &Plan, finished: &Finished) {
        let is_passed_over = match self.request.compaction {
            CompactionTrigger::None => return,
            // A compaction is the whole answer to a trigger.
            CompactionTrigger::Now => true,
            CompactionTrigger::Above(threshold) => {
                input_tokens(finished).is_some_and(|tokens| tokens > threshold)
            }
        };
        let has_compaction =
            finished.output.iter().any(|it| it.announced.head().kind == Kind::Compaction);
        let has_passed = is_passed_over
            && finished.status == Status::Completed
            && finished.output.iter().all(|it| is_of_one_step(&it.announced));
        if has_passed && !has_compaction && plan.preface.is_none() {
            self.gateway.upstreams.without_compaction.remember(&plan.origin);
        }
    }

    /// Seals the compactions of an upstream that can create them.
    pub(super) fn sealing(&self, origin: &Origin, upstream: Upstream<'_>) -> Option<Sealing> {
        let key = std::sync::Arc::clone(&self.gateway.compaction_key);
        let sealing = || Sealing::new(key, self.caller.tenant.clone(), origin.clone());
        upstream.is_responses_server().then(sealing)
    }
}

/// Whether the transcript contains a compaction already.
fn was_compacted(plan: &Plan) -> bool {
    let items = plan.transcript.items().iter();
    items.filter(|item| !item.is_tombstone()).any(|item| item.head.kind == Kind::Compaction)
}

/// Whether a compaction replaces the item.
fn is_compactable(item: &Item) -> bool {
    let head = item.head();
    let is_its_own = matches!(head.kind, Kind::Compaction | Kind::CompactionTrigger);
    !is_its_own && !head.survives_compaction()
}

/// Whether a model produces the item in a single step.
fn is_of_one_step(item: &Item) -> bool {
    let kind = &item.head().kind;
    matches!(kind, Kind::Message | Kind::Reasoning) || kind.tool().is_some_and(Tool::is_named)
}

fn input_tokens(finished: &Finished) -> Option<u64> {
    let response: serde_json::Value = serde_json::from_str(&finished.response).ok()?;
    response["usage"]["input_tokens"].as_u64()
}

//! The third stage: a turn that asks its upstream.

use std::pin::{Pin, pin};
use std::sync::Arc;

use antiphon::dialect::{RequestContext, UpstreamApi};
use antiphon::stream::{Permission, Preface, UsedIds};
use antiphon::{Item, Kind};
use bytes::Bytes;
use futures_util::future::{MaybeDone, maybe_done};

use super::cancel::{TurnError, run_unless_cancelled};
use super::client::{Client, Head};
use super::compact::{compact_if_due, may_be_due};
use super::open::Opened;
use super::pending::PendingTurn;
use super::plan::{Plan, PlannedTurn};
use super::reader::ResponseReader;
use super::send::{PromptSender, Sent};
use crate::error::ApiError;
use crate::request::CompactionTrigger;
use crate::span::ErrorType as _;
use crate::upstream::{Reply, UpstreamError};

/// The empty remainder of an answer that consists of the compaction.
const NOTHING_MORE: &[u8] = br#"{"object":"response","status":"completed","output":[]}"#;

/// A planned turn that asks its upstream for an answer.
pub(super) struct SendingTurn<'a> {
    pub(super) sender: PromptSender<'a>,
    pub(super) opened: Box<Opened>,
    pub(super) plan: Box<Plan>,
    pub(super) pending: PendingTurn<'a>,
}

impl<'a> SendingTurn<'a> {
    /// Starts the time limit of the answer.
    pub(super) fn new(planned: PlannedTurn<'a>) -> Self {
        let PlannedTurn { planner, opened, plan } = planned;
        let pending = PendingTurn::new(planner.turn, &opened);
        Self { sender: PromptSender::new(planner), opened, plan, pending }
    }
}

impl SendingTurn<'_> {
    /// Compacts the history if the request asks for it and the upstream does not do it, then sends
    /// the request.
    ///
    /// If an upstream rejects the request to compact, or answers a trigger with anything else, the
    /// gateway remembers this and compacts itself.
    pub(super) async fn send(&mut self, client: &mut Client) -> Result<Reply, TurnError> {
        let planner = self.sender.planner;
        if planner.upstream_compacts(&self.plan.origin) {
            if let Some(reply) = self.send_to_compacting(client).await? {
                return Ok(reply);
            }
            planner.turn.gateway.upstreams.without_compaction.insert(&self.plan.origin);
        }
        if may_be_due(planner.turn, &self.plan) {
            let mut compacting = Box::pin(compact_if_due(planner, &mut self.plan));
            run_unless_cancelled(planner.turn, compacting.as_mut(), &self.opened, client).await?;
        }
        if self.is_answered_by_compaction() {
            self.pending.record(&self.opened, &self.plan).await?;
            return Ok(Reply::Whole(Bytes::from_static(NOTHING_MORE)));
        }
        planner.fit(&mut self.plan).await?;
        self.sender = PromptSender::new(planner);
        self.send_readable(client).await
    }

    /// Sends the request to an upstream that may be able to compact; `None` if it is not.
    async fn send_to_compacting(
        &mut self,
        client: &mut Client,
    ) -> Result<Option<Reply>, TurnError> {
        let trigger = self.sender.planner.turn.request.compaction;
        match self.send_readable(client).await {
            Err(TurnError::Failed(ApiError::Upstream(refused))) if refused.rejects_compaction() => {
                Ok(None)
            }
            Ok(reply) if trigger == CompactionTrigger::Now => {
                Box::pin(self.read_compaction(reply, client)).await
            }
            reply => reply.map(Some),
        }
    }

    /// Sends the request. If the upstream cannot read its own compaction any more, because its keys
    /// have changed, sends the items that it replaced, if they are stored. Otherwise returns the
    /// upstream's error.
    async fn send_readable(&mut self, client: &mut Client) -> Result<Reply, TurnError> {
        let planner = self.sender.planner;
        let refusal = match self.record_and_send(client).await {
            Err(TurnError::Failed(ApiError::Upstream(refused)))
                if refused.rejects_reasoning() && planner.turn.repairs() =>
            {
                refused
            }
            reply => return reply,
        };
        let is_compaction = |item: &Item| item.head().kind == Kind::Compaction;
        let is_restored = self.plan.prompt.view.iter().any(is_compaction)
            && planner.restore_history(&mut self.plan).is_ok();
        match is_restored {
            true => self.record_and_send(client).await,
            false => Err(ApiError::Upstream(refusal).into()),
        }
    }

    /// Records the pending turn and sends the request, at the same time.
    async fn record_and_send(&mut self, client: &mut Client) -> Result<Reply, TurnError> {
        let sent = self.try_to_record_and_send(client).await;
        if sent.is_err() {
            self.pending.discard().await;
        }
        Ok(sent?.report_in(&mut self.plan))
    }

    /// Runs both operations. If the request fails, the record may be written nevertheless. If the
    /// record fails, the answer is not awaited.
    async fn try_to_record_and_send(&mut self, client: &mut Client) -> Result<Sent, TurnError> {
        let Self { sender, opened, plan, pending } = self;
        let turn = sender.planner.turn;
        let mut recording = pin!(maybe_done(pending.record(opened, plan)));
        let sent = {
            let both = pin!(async {
                tokio::select! {
                    biased;
                    () = until_failed(recording.as_mut()) => Ok::<_, UpstreamError>(None),
                    sent = sender.send(plan) => sent.map(Some),
                }
            });
            run_unless_cancelled(turn, both, opened, client).await
        };
        // The store completes a write that has begun, so the record can be discarded only after
        // that.
        recording.as_mut().await;
        recording.as_mut().take_output().expect("the record was awaited")?;
        let sent = sent.inspect_err(|error| sender.chat().fail(&error.error_type()));
        Ok(sent?.expect("the request is sent once the turn is recorded"))
    }

    /// The headers of the answer.
    pub(super) fn head(&self) -> Head {
        self.plan.report.head(&self.opened.response_id)
    }

    /// A reader of the upstream's answer.
    pub(super) fn reader(&self) -> ResponseReader {
        let (planner, plan) = (self.sender.planner, &self.plan);
        let (turn, upstream) = (planner.turn, planner.upstream);
        let fields = turn.request.object();
        let assembler = turn
            .assembler(
                self.opened.envelope(&fields),
                UsedIds::from_shared(Arc::clone(&plan.transcript)),
            )
            .with_permission(Permission::from_request(&fields))
            .with_reasoning(upstream.reasoning_form(&fields));
        let assembler = match &plan.preface {
            Some(preface) => assembler.with_preface(Preface::clone(preface)),
            None => assembler,
        };
        let context = RequestContext::from_request(&fields, &plan.prompt.view, plan.origin.clone());
        let api = match self.is_answered_by_compaction() {
            true => UpstreamApi::Responses,
            false => upstream.api(),
        };
        let reader =
            ResponseReader::new(api, context, assembler).with_max_size(upstream.max_event());
        reader.with_sealing(planner.sealing(&plan.origin))
    }

    /// Whether the gateway's compaction is the whole answer.
    fn is_answered_by_compaction(&self) -> bool {
        let trigger = self.sender.planner.turn.request.compaction;
        trigger == CompactionTrigger::Now && self.plan.preface.is_some()
    }
}

/// Waits until the recording fails; waits forever after a successful one.
async fn until_failed<T>(
    mut recording: Pin<&mut MaybeDone<impl Future<Output = Result<T, ApiError>>>>,
) {
    recording.as_mut().await;
    if let Some(Ok(_)) = recording.as_mut().output_mut() {
        std::future::pending::<()>().await;
    }
}

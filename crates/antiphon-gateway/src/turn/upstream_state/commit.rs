//! Writes a turn to the ledger.

use antiphon::HeldItem;
use antiphon::json::Object;
use antiphon::stream::{Finished, Status};
use antiphon_store::{Destination, LedgerUpdate, NewResponse, TurnRecord, UpstreamId};
use bytes::Bytes;

use super::UpstreamTurn;
use super::plan::Plan;
use super::relay::Answered;
use crate::error::ApiError;
use crate::turn::Client;
use crate::turn::commit::{CommittedTurn, output_items};
use crate::turn::commit_retry::commit_with_retries;
use crate::turn::open::Opened;
use crate::turn::pending::PendingTurn;
use crate::turn::reader::Outcome;
use crate::turn::report::Report;
use crate::turn::shared_text::SharedEnd;

impl UpstreamTurn<'_> {
    /// Records the turn as it will be stored if this process dies before its end. The ledger is
    /// then stale, and the next turn resyncs it.
    pub(super) async fn record_pending_turn(
        &self,
        opened: &Opened,
        plan: &Plan,
    ) -> Result<(), ApiError> {
        if !self.has_opening() {
            return Ok(());
        }
        let opening = self.opening(opened, plan);
        Ok(self.turn.gateway.store.record_pending_turn(&self.turn.caller.tenant, opening).await?)
    }

    /// The record of the turn before the response has an upstream id.
    fn opening(&self, opened: &Opened, plan: &Plan) -> TurnRecord {
        TurnRecord {
            destination: opened.destination.clone(),
            input: plan.fresh.clone(),
            output: Vec::new(),
            response: Some(new_response(opened, "", Status::Cancelled, &plan.report)),
            request: Some(self.turn.request.identity.digest),
            place: None,
            notices: Vec::new(),
            ledger: None,
        }
    }

    /// Whether the turn has an opening. Its client may learn the response's id, or retry the
    /// request after it stopped waiting. In the background, the job has its own record.
    pub(super) fn has_opening(&self) -> bool {
        self.turn.request.store && !self.turn.request.background
    }

    /// Drops the opening of a turn that stores nothing.
    pub(super) async fn drop_pending_turn(&self, opened: &Opened) {
        if self.has_opening() {
            PendingTurn::new(self.turn, opened).discard_recorded().await;
        }
    }

    /// Marks the ledger stale, before a request that may change the conversation.
    pub(super) async fn mark_stale(&self, opened: &Opened) -> Result<(), ApiError> {
        match &opened.conversation {
            Some(id) => Ok(self.ledgers().mark_stale(&self.turn.caller.tenant, id).await?),
            None => Ok(()),
        }
    }

    /// Marks the ledger stale again after a commit failed: a turn that has taken over the
    /// conversation may have marked it fresh. If this write fails too, the ledger stays as it is:
    /// stale from before the request, unless such a turn has marked it fresh.
    pub(super) async fn mark_stale_again(&self, opened: &Opened) {
        if let Err(error) = self.mark_stale(opened).await {
            let reason = error.to_string();
            tracing::warn!(
                reason,
                "could not mark a ledger stale after a failed commit; the mark from before stays"
            );
        }
    }

    /// Marks the ledger fresh after a request that changed nothing. If this write fails, the next
    /// turn resyncs the ledger once more.
    pub(super) async fn mark_fresh(&self, opened: &Opened) {
        let Some(id) = &opened.conversation else { return };
        if let Err(error) = self.ledgers().mark_fresh(&self.turn.caller.tenant, id).await {
            tracing::warn!(%error, "could not mark a ledger fresh; the next turn resyncs it");
        }
    }

    /// Records the upstream's name for the response before the client sees it. Needed only if the
    /// client sees the id before the end and can continue the response.
    pub(super) async fn announce(
        &self,
        named: &UpstreamId,
        opened: &Opened,
    ) -> Result<(), ApiError> {
        if !self.has_opening() {
            return Ok(());
        }
        let (tenant, local) = (&self.turn.caller.tenant, &opened.response_id);
        Ok(self.ledgers().announce(tenant, named.clone(), local).await?)
    }

    /// Ends a turn before its response id arrived, because its client disconnected or the answer
    /// broke off. The upstream may have stored the turn, so the ledger stays stale. The record
    /// keeps the input, which a retry of the request needs.
    pub(super) async fn abandon(&self, opened: &Opened, plan: &Plan) {
        if !self.has_opening() || opened.conversation.is_none() {
            return self.drop_pending_turn(opened).await;
        }
        let ledger = LedgerUpdate { response: None, is_stale: true };
        let left = TurnRecord {
            ledger: Some(ledger),
            place: opened.place(),
            ..self.opening(opened, plan)
        };
        if let Err(error) =
            commit_with_retries(self.turn.gateway, &self.turn.caller.tenant, left).await
        {
            tracing::warn!(
                %error,
                "could not store an abandoned turn; its retry will not be recognized"
            );
            self.mark_stale_again(opened).await;
            self.drop_pending_turn(opened).await;
        }
    }

    /// Commits the result of the turn and then sends its end to the client.
    pub(super) async fn conclude(
        &self,
        opened: Opened,
        plan: Plan,
        answer: Answered,
        client: &mut Client,
    ) -> Result<(), ApiError> {
        if answer.is_abandoned() && answer.named.is_none() {
            self.abandon(&opened, &plan).await;
            return Ok(());
        }
        let Answered { outcome, named } = answer;
        let is_deleted = matches!(outcome, Outcome::ConversationDeleted(_));
        let mut finished = outcome.finished();
        let report = plan.report.clone().with_notes(&finished.notes);
        let committed = match is_deleted {
            true => Err(ApiError::ConversationDeleted),
            false => self.commit(&opened, &plan, named.clone(), &report, &finished).await,
        };
        if committed.is_err() {
            self.mark_stale_again(&opened).await;
            self.drop_pending_turn(&opened).await;
        }
        let failure = committed.as_ref().err();
        let is_stored = self.turn.stores_response(&finished) && committed.is_ok();
        let response = named.as_ref().filter(|_| is_stored).map(|named| &*named.id);
        report.log(self.turn.request, response, &finished, failure);
        opened.close().await;
        let end = SharedEnd::take_from(&mut finished);
        CommittedTurn { finished, end, result: committed }.send_end(client).await;
        Ok(())
    }

    /// Commits the turn. If it did not end well, the upstream may have stored something else, so
    /// the ledger stays stale.
    async fn commit(
        &self,
        opened: &Opened,
        plan: &Plan,
        named: Option<UpstreamId>,
        report: &Report,
        finished: &Finished,
    ) -> Result<(), ApiError> {
        let failed = finished.status == Status::Failed;
        let stored = self.turn.request.store;
        let keeps_items = stored || matches!(opened.destination, Destination::Conversation(_));
        if !keeps_items || failed && !self.has_opening() {
            return Ok(());
        }
        let ended_well = matches!(finished.status, Status::Completed | Status::Incomplete);
        let named = named.filter(|_| stored);
        let id = named.as_ref().map_or("", |named| &named.id);
        let turn = TurnRecord {
            destination: if failed {
                opened.destination_apart()
            } else {
                opened.destination.clone()
            },
            input: plan.fresh.clone(),
            output: self.output(finished, plan),
            response: stored.then(|| new_response(opened, id, finished.status, report)),
            request: Some(self.turn.request.identity.digest),
            place: opened.place(),
            notices: Vec::new(),
            ledger: Some(LedgerUpdate {
                is_stale: !ended_well || plan.names_unknown,
                response: named,
            }),
        };
        Ok(commit_with_retries(self.turn.gateway, &self.turn.caller.tenant, turn).await?)
    }

    /// The output items as ledger entries.
    fn output(&self, finished: &Finished, plan: &Plan) -> Vec<HeldItem> {
        let output =
            output_items(self.turn.gateway.fingerprint_key, finished, &plan.origin).into_iter();
        let entered = output.map(|item| match item.is_tombstone() {
            true => item,
            false => self.entered(item),
        });
        entered.collect()
    }
}

/// The record of the response under its local id. `id` is the upstream's id.
fn new_response(opened: &Opened, id: &str, status: Status, report: &Report) -> NewResponse {
    NewResponse {
        id: opened.response_id.clone(),
        conversation: opened.conversation.clone(),
        created_at: opened.created_at,
        envelope: envelope_with(id, status.as_str()),
        report: report.to_json().into(),
    }
}

/// The response object of a record. It has the id and the status, never content.
pub(super) fn envelope_with(id: &str, status: &str) -> Bytes {
    let mut envelope = Object::default();
    envelope.set_string("id", id);
    envelope.set_string("object", "response");
    envelope.set_string("status", status);
    envelope.to_bytes()
}

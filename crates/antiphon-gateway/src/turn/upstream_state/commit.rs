//! The last stage: a turn with an answer, and its records in the ledger.

use antiphon::json::Object;
use antiphon::stateful::Plan;
use antiphon::stream::{Finished, Status};
use antiphon_store::{LedgerUpdate, StoreError, TurnRecord, UpstreamId};
use bytes::Bytes;

use super::open::OpenedAtUpstream;
use super::relay::Relayed;
use crate::error::ApiError;
use crate::turn::Client;
use crate::turn::commit::{CommittedTurn, output_items};
use crate::turn::commit_retry::commit_with_retries;
use crate::turn::reader::Outcome;
use crate::turn::report::Report;
use crate::turn::shared_text::SharedEnd;
use crate::upstream::Upstream;

/// A turn whose answer was passed on to the client, except for its end.
pub(super) struct RelayedAtUpstream<'a> {
    pub(super) opened: OpenedAtUpstream<'a>,
    pub(super) plan: Plan,
    pub(super) report: Report,
    pub(super) relayed: Relayed,
}

impl RelayedAtUpstream<'_> {
    /// Commits the result of the turn and then sends its end to the client.
    pub(super) async fn commit(self, client: &mut Client) {
        let Self { opened, plan, report, relayed: Relayed { outcome, named } } = self;
        if matches!(outcome, Outcome::Disconnected(_)) && named.is_none() {
            return opened.abandon(&plan, &report).await;
        }
        let is_deleted = matches!(outcome, Outcome::ConversationDeleted(_));
        let mut finished = outcome.finished();
        let report = report.with_notes(&finished.notes);
        let result = match is_deleted {
            true => Err(ApiError::ConversationDeleted),
            false => opened.commit(&plan, named.as_ref(), &report, &finished).await,
        };
        if result.is_err() {
            opened.mark_stale_again().await;
            opened.drop_pending_turn().await;
        }
        let request = opened.at.turn.request;
        let is_stored = opened.at.turn.stores_response(&finished) && result.is_ok();
        let response = named.as_ref().filter(|_| is_stored).map(|named| &*named.id);
        report.log(request, response, &finished, result.as_ref().err());
        opened.place.close().await;
        let end = SharedEnd::take_from(&mut finished);
        CommittedTurn { finished, end, result }.send_end(client).await;
    }
}

impl OpenedAtUpstream<'_> {
    /// Commits the turn. If it did not end well, the upstream may have stored something else, so
    /// the ledger stays stale.
    async fn commit(
        &self,
        plan: &Plan,
        named: Option<&UpstreamId>,
        report: &Report,
        finished: &Finished,
    ) -> Result<(), ApiError> {
        let Self { at, place, .. } = self;
        let failed = finished.status == Status::Failed;
        if !at.turn.stores_items() || failed && !at.has_pending_turn() {
            return Ok(());
        }
        let ended_well = matches!(finished.status, Status::Completed | Status::Incomplete);
        let named = named.filter(|_| at.turn.request.store).cloned();
        let id = named.as_ref().map_or("", |named| &named.id);
        let mut record = self.record(plan, report, (id, finished.status.as_str()));
        if failed {
            record.destination = place.destination_apart();
        }
        let origin = Upstream::Http(at.http).origin(&at.turn.request.model);
        let output = output_items(at.turn.gateway.fingerprint_key, finished, &origin);
        if let (false, Some(response)) = (ended_well, &mut record.response) {
            let copy = at.copy(plan).and_then(|copy| copy.with(&output));
            response.copy = copy.and_then(|copy| at.seal_copy(&copy));
        }
        record.output = at.entries(&output);
        record.place = place.place();
        let is_stale = !ended_well || plan.names_unknown;
        record.ledger = Some(LedgerUpdate { is_stale, response: named });
        Ok(self.store(record).await?)
    }

    /// Records the turn as it will be stored if this process dies before its end. The ledger is
    /// then stale, and the next turn resyncs it.
    pub(super) async fn record_pending_turn(
        &self,
        plan: &Plan,
        report: &Report,
    ) -> Result<(), ApiError> {
        if !self.at.has_pending_turn() {
            return Ok(());
        }
        let turn = self.at.turn;
        Ok(turn
            .gateway
            .store
            .record_pending_turn(&turn.caller.tenant, self.pending_turn(plan, report))
            .await?)
    }

    /// The record of the turn before the response has an upstream id.
    fn pending_turn(&self, plan: &Plan, report: &Report) -> TurnRecord {
        let mut record = self.record(plan, report, ("", Status::Cancelled.as_str()));
        if let Some(response) = &mut record.response {
            response.copy = self.at.copy(plan).and_then(|copy| self.at.seal_copy(&copy));
        }
        record
    }

    /// The record of the turn without its answer. The response has the upstream's id and status.
    pub(super) fn record(
        &self,
        plan: &Plan,
        report: &Report,
        (id, status): (&str, &str),
    ) -> TurnRecord {
        let response = || self.place.new_response(envelope_with(id, status), report);
        let request = self.at.turn.request;
        TurnRecord {
            destination: self.place.destination.clone(),
            input: self.at.added_items(plan),
            output: Vec::new(),
            response: request.store.then(response),
            request: Some(request.identity.digest),
            place: None,
            notices: Vec::new(),
            ledger: None,
        }
    }

    /// Drops the pending turn of a turn that stores nothing.
    pub(super) async fn drop_pending_turn(&self) {
        if self.at.has_pending_turn() {
            self.pending.discard_recorded().await;
        }
    }

    /// Marks the ledger stale, before a request that may change the conversation.
    pub(super) async fn mark_stale(&self) -> Result<(), ApiError> {
        match &self.place.conversation {
            Some(id) => Ok(self.at.ledgers().mark_stale(&self.at.turn.caller.tenant, id).await?),
            None => Ok(()),
        }
    }

    /// Marks the ledger stale again after a commit failed: a turn that has taken over the
    /// conversation may have marked it fresh. If this write fails too, the ledger stays as it is:
    /// stale from before the request, unless such a turn has marked it fresh.
    pub(super) async fn mark_stale_again(&self) {
        if let Err(error) = self.mark_stale().await {
            let reason = error.to_string();
            tracing::warn!(
                reason,
                "could not mark a ledger stale after a failed commit; the mark from before stays"
            );
        }
    }

    /// Marks the ledger fresh after a request that changed nothing. If this write fails, the next
    /// turn resyncs the ledger once more.
    pub(super) async fn mark_fresh(&self) {
        let Some(id) = &self.place.conversation else { return };
        if let Err(error) = self.at.ledgers().mark_fresh(&self.at.turn.caller.tenant, id).await {
            tracing::warn!(%error, "could not mark a ledger fresh; the next turn resyncs it");
        }
    }

    /// Records the upstream's name for the response before the client sees it. Needed only if the
    /// client sees the id before the end and can continue the response.
    pub(super) async fn announce(&self, named: &UpstreamId) -> Result<(), ApiError> {
        if !self.at.has_pending_turn() {
            return Ok(());
        }
        let (tenant, local) = (&self.at.turn.caller.tenant, &self.place.response_id);
        Ok(self.at.ledgers().announce(tenant, named.clone(), local).await?)
    }

    /// Ends a turn before its response id arrived, because its client disconnected or the answer
    /// broke off. The upstream may have stored the turn, so the ledger stays stale. The record
    /// keeps the input, which a retry of the request needs.
    pub(super) async fn abandon(&self, plan: &Plan, report: &Report) {
        if !self.at.has_pending_turn() || self.place.conversation.is_none() {
            return self.drop_pending_turn().await;
        }
        let ledger = Some(LedgerUpdate { response: None, is_stale: true });
        let left =
            TurnRecord { ledger, place: self.place.place(), ..self.pending_turn(plan, report) };
        if let Err(error) = self.store(left).await {
            tracing::warn!(
                %error,
                "could not store an abandoned turn; its retry will not be recognized"
            );
            self.mark_stale_again().await;
            self.drop_pending_turn().await;
        }
    }

    async fn store(&self, record: TurnRecord) -> Result<(), StoreError> {
        let turn = self.at.turn;
        commit_with_retries(turn.gateway, &turn.caller.tenant, record).await
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

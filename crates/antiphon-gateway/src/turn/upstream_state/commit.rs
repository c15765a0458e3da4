//! The last stage: a turn with an answer, and its records in the ledger.

use antiphon::json::Object;
use antiphon::stream::{Finished, Status};
use antiphon_store::{LedgerUpdate, StoreError, TurnRecord, UpstreamId};
use bytes::Bytes;

use super::UpstreamTurn;
use super::open::OpenedAtUpstream;
use super::prepare::PlannedAtUpstream;
use super::relay::Relayed;
use crate::error::ApiError;
use crate::span::Stage;
use crate::turn::Client;
use crate::turn::cancel::CancelReason;
use crate::turn::commit::{CommittedTurn, output_items};
use crate::turn::commit_retry::commit_with_retries;
use crate::turn::finished::{TurnEnd, record_answer};
use crate::turn::reader::Outcome;
use crate::turn::shared_text::SharedEnd;
use crate::upstream::Upstream;

impl PlannedAtUpstream<'_> {
    /// Commits the result of a turn whose answer was passed on to the client, and then sends its
    /// end.
    pub(super) async fn commit(mut self, relayed: Relayed, client: &mut Client) {
        let Relayed { outcome, named } = relayed;
        let turn = self.opened.at.turn;
        turn.clock.mark_answered();
        let is_disconnected = matches!(outcome, Outcome::Disconnected(_));
        if is_disconnected && named.is_none() {
            self.chat.fail(CancelReason::Disconnected.name());
            self.abandon().await;
            return turn.finished(TurnEnd::Disconnected).with_report(&self.report).publish();
        }
        let is_deleted = matches!(outcome, Outcome::ConversationDeleted(_));
        let mut finished = outcome.finished();
        record_answer(&self.chat, &finished);
        self.report = turn.with_answer(self.report, &finished);
        let stage = turn.stage(Stage::Commit);
        let result = match is_deleted {
            true => Err(ApiError::ConversationDeleted),
            false => stage.close(self.store_answered(named.as_ref(), &finished).await),
        };
        let Self { opened, report, .. } = self;
        if result.is_err() {
            opened.mark_stale_again().await;
            opened.drop_pending_turn().await;
        }
        let is_stored = turn.stores_response(&finished) && result.is_ok();
        let response = named.as_ref().filter(|_| is_stored).map(|named| &*named.id);
        let not_stored = result.as_ref().err();
        let end = TurnEnd::Answered { finished: &finished, is_disconnected, not_stored };
        turn.finished(end).with_report(&report).with_response(response).publish();
        opened.place.close().await;
        let end = SharedEnd::take_from(&mut finished);
        CommittedTurn { finished, end, result }.send_end(client).await;
    }

    /// Stores the turn. If it did not end well, the upstream may have stored something else, so the
    /// ledger stays stale.
    async fn store_answered(
        &self,
        named: Option<&UpstreamId>,
        finished: &Finished,
    ) -> Result<(), ApiError> {
        let OpenedAtUpstream { at, place, .. } = &self.opened;
        let failed = finished.status == Status::Failed;
        if !at.turn.stores_items() || failed && !at.has_pending_turn() {
            return Ok(());
        }
        let ended_well = matches!(finished.status, Status::Completed | Status::Incomplete);
        let named = named.filter(|_| at.turn.request.store).cloned();
        let id = named.as_ref().map_or("", |named| &named.id);
        let mut record = self.record(id, finished.status.as_str());
        if failed {
            record.destination = place.destination_apart();
        }
        let origin = Upstream::Http(at.http).origin(&at.turn.request.model);
        let output = output_items(at.turn.gateway.fingerprint_key, finished, &origin);
        if let (false, Some(response)) = (ended_well, &mut record.response) {
            let copy = at.copy(self.plan()).and_then(|copy| copy.with(&output));
            response.copy = copy.and_then(|copy| at.seal_copy(&copy));
        }
        record.output = at.entries(&output);
        record.place = place.place();
        let is_stale = !ended_well || self.plan().names_unknown;
        record.ledger = Some(LedgerUpdate { is_stale, response: named });
        Ok(self.store(record).await?)
    }

    /// Records the turn as it will be stored if this process dies before its end. The ledger is
    /// then stale, and the next turn resyncs it.
    pub(super) async fn record_pending_turn(&self) -> Result<(), ApiError> {
        let UpstreamTurn { turn, .. } = self.opened.at;
        if !self.opened.at.has_pending_turn() {
            return Ok(());
        }
        let store = &turn.gateway.store;
        Ok(store.record_pending_turn(&turn.caller.tenant, self.pending_turn()).await?)
    }

    /// The record of the turn before the response has an upstream id.
    fn pending_turn(&self) -> TurnRecord {
        let at = self.opened.at;
        let mut record = self.record("", Status::Cancelled.as_str());
        if let Some(response) = &mut record.response {
            response.copy = at.copy(self.plan()).and_then(|copy| at.seal_copy(&copy));
        }
        record
    }

    /// The record of the turn without its answer. The response has the upstream's id and status.
    pub(super) fn record(&self, id: &str, status: &str) -> TurnRecord {
        let OpenedAtUpstream { at, place, .. } = &self.opened;
        let response = || place.new_response(envelope_with(id, status), &self.report);
        let request = at.turn.request;
        TurnRecord {
            destination: place.destination.clone(),
            input: at.added_items(self.plan()),
            output: Vec::new(),
            response: request.store.then(response),
            request: Some(request.identity.digest),
            place: None,
            notices: Vec::new(),
            ledger: None,
        }
    }

    /// Ends a turn before its response id arrived, because its client disconnected or the answer
    /// broke off. The upstream may have stored the turn, so the ledger stays stale. The record
    /// keeps the input, which a retry of the request needs.
    pub(super) async fn abandon(&self) {
        let OpenedAtUpstream { at, place, .. } = &self.opened;
        if !at.has_pending_turn() || place.conversation.is_none() {
            return self.opened.drop_pending_turn().await;
        }
        let ledger = Some(LedgerUpdate { response: None, is_stale: true });
        let left = TurnRecord { ledger, place: place.place(), ..self.pending_turn() };
        if let Err(error) = self.store(left).await {
            tracing::warn!(
                %error,
                "could not store an abandoned turn; its retry will not be recognized"
            );
            self.opened.mark_stale_again().await;
            self.opened.drop_pending_turn().await;
        }
    }

    async fn store(&self, record: TurnRecord) -> Result<(), StoreError> {
        let turn = self.opened.at.turn;
        commit_with_retries(turn.gateway, &turn.caller.tenant, record).await
    }
}

impl OpenedAtUpstream<'_> {
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
}

/// The response object of a record. It has the id and the status, never content.
pub(super) fn envelope_with(id: &str, status: &str) -> Bytes {
    let mut envelope = Object::default();
    envelope.set_string("id", id);
    envelope.set_string("object", "response");
    envelope.set_string("status", status);
    envelope.to_bytes()
}

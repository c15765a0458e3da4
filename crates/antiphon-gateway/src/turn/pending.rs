//! The record of a turn that has not ended.

use std::sync::Arc;

use antiphon::stream::Status;
use antiphon_store::{ResponseId, TurnRecord};
use tracing::Instrument as _;

use super::context::Turn;
use super::open::Opened;
use super::plan::Plan;
use crate::error::ApiError;
use crate::retry::retry_in_background;

/// The store's record of a turn that has not ended: the turn as it will be stored if this process
/// dies. Not every turn has one ([`Turn::has_pending_record`]).
///
/// If the turn panics, the record is discarded. Nothing else would discard it while this process
/// lives.
pub(super) struct PendingTurn<'a> {
    turn: &'a Turn<'a>,
    id: ResponseId,
}

impl<'a> PendingTurn<'a> {
    /// Guards the record, which may exist already or be written later.
    pub(super) fn new(turn: &'a Turn<'a>, opened: &Opened) -> Self {
        Self { turn, id: opened.response_id.clone() }
    }
}

impl PendingTurn<'_> {
    /// Writes the record, if the turn has one.
    pub(super) async fn record(&self, opened: &Opened, plan: &Plan) -> Result<(), ApiError> {
        let Turn { gateway, caller, request, .. } = self.turn;
        if !self.turn.has_pending_record() {
            return Ok(());
        }
        let mut envelope = opened.envelope(&request.object());
        envelope.set("status", format!("\"{}\"", Status::Cancelled.as_str()));
        let envelope = envelope.render(std::iter::empty());
        let record = TurnRecord {
            response: Some(opened.new_response(envelope.into(), &plan.report_with_view(self.turn))),
            ..self.turn.new_record(opened.destination.clone(), plan.fresh().to_vec())
        };
        let recorded = gateway.store.record_pending_turn(&caller.tenant, record).await;
        gateway.write_check.record(&recorded);
        Ok(recorded?)
    }

    /// Discards the record of a turn that stores nothing: now, or as soon as the store works again.
    ///
    /// A record that stays would be settled later, after newer turns, although the client was
    /// informed that nothing changed. A turn that continues its response would wait for a turn that
    /// has ended.
    pub(super) async fn discard(&self) {
        if self.turn.has_pending_record() {
            self.discard_recorded().await;
        }
    }

    /// Discards a record that exists, for any kind of request.
    pub(super) async fn discard_recorded(&self) {
        let Turn { gateway, caller, .. } = self.turn;
        if let Err(error) = gateway.store.drop_pending_turn(&caller.tenant, &self.id).await {
            tracing::warn!(%error, "could not drop a pending turn; trying again in the background");
            self.discard_in_background();
        }
    }

    fn discard_in_background(&self) {
        let Turn { gateway, caller, .. } = self.turn;
        let (store, tenant) = (Arc::clone(&gateway.store), caller.tenant.clone());
        let id = self.id.clone();
        let discarding = async move {
            let discard = || store.drop_pending_turn(&tenant, &id);
            retry_in_background("drop the record of a pending turn", discard).await;
        };
        gateway.turns.spawn(discarding.in_current_span());
    }
}

impl Drop for PendingTurn<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() && self.turn.has_pending_record() {
            self.discard_in_background();
        }
    }
}

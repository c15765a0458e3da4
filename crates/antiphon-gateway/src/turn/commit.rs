//! Stores the result of a turn.

use std::sync::Arc;

use antiphon::stream::{Finished, Output, Status};
use antiphon::{Body, HeldItem, Origin};
use antiphon_store::{Base, NewResponse, ResponseId, Turn as TurnRecord};
use bytes::Bytes;
use tracing::Instrument as _;

use super::open::Opened;
use super::plan::Plan;
use super::report::Report;
use super::{Turn, envelope};
use crate::error::ApiError;
use crate::retry_in_background::retry_in_background;

impl Turn<'_> {
    /// Records the turn as it will be stored if this process dies before its end. Needed only if
    /// the response is stored and the client learns its id before the end.
    pub(super) async fn record_opening(
        &self,
        opened: &Opened,
        plan: &Plan,
    ) -> Result<(), ApiError> {
        if !self.has_opening() {
            return Ok(());
        }
        let mut envelope = envelope(opened, &self.request.object());
        envelope.set("status", format!("\"{}\"", Status::Cancelled.as_str()));
        let turn = TurnRecord {
            base: opened.base.clone(),
            input: plan.fresh.clone(),
            output: Vec::new(),
            response: Some(NewResponse {
                envelope: envelope.render(std::iter::empty()).into(),
                ..new_response(opened, Bytes::new(), &plan.report)
            }),
            request: Some(self.request.identity.digest),
            place: None,
            notices: Vec::new(),
            ledger: None,
        };
        let recorded = self.gateway.store.record_opening(&self.caller.tenant, turn).await;
        self.gateway.write_check.note(&recorded);
        Ok(recorded?)
    }

    /// Drops the opening of a turn that stores nothing: now, or as soon as the store works again.
    ///
    /// An opening that stays would be settled later, after newer turns, although the client was
    /// informed that nothing changed. A turn that continues its response would wait for a turn that
    /// has ended.
    pub(super) async fn drop_opening(&self, opened: &Opened) {
        if self.has_opening() {
            self.drop_recorded_opening(opened).await;
        }
    }

    /// Drops an opening that was recorded, for any kind of request.
    pub(super) async fn drop_recorded_opening(&self, opened: &Opened) {
        let (store, id) = (&self.gateway.store, &opened.response_id);
        if let Err(error) = store.drop_opening(&self.caller.tenant, id).await {
            tracing::warn!(%error, "an opening is dropped later");
            self.drop_opening_later(id.clone());
        }
    }

    fn drop_opening_later(&self, id: ResponseId) {
        let (store, tenant) = (Arc::clone(&self.gateway.store), self.caller.tenant.clone());
        let dropping = async move {
            retry_in_background("an opening is not dropped", || store.drop_opening(&tenant, &id))
                .await;
        };
        self.gateway.turns.spawn(dropping.in_current_span());
    }

    /// Drops the opening if the turn panics while the guard exists.
    pub(super) fn guard_opening(&self, opened: &Opened) -> OpeningGuard<'_> {
        OpeningGuard { turn: self, id: opened.response_id.clone() }
    }

    /// Commits the turn: its items, and its record if the response is stored.
    ///
    /// A failed turn leaves its conversation unchanged. If the client has seen its id, it can be
    /// continued nevertheless, so it is stored outside the conversation.
    pub(super) async fn commit(
        &self,
        opened: &Opened,
        fresh: Vec<HeldItem>,
        report: &Report,
        finished: &Finished,
        origin: &Origin,
    ) -> Result<(), ApiError> {
        let failed = finished.status == Status::Failed;
        let keeps_items = self.request.store || matches!(opened.base, Base::Conversation(_));
        if !keeps_items || !self.outlives_failure(finished) {
            return Ok(());
        }
        let base = if failed { opened.base_apart() } else { opened.base.clone() };
        let turn = self.record(base, opened, fresh, report, finished, origin);
        Ok(self.commit_patiently(turn).await?)
    }

    /// Whether the turn is stored. A failed turn is stored only if it has an opening.
    fn outlives_failure(&self, finished: &Finished) -> bool {
        finished.status != Status::Failed || self.has_opening()
    }

    /// Whether the response is stored after the commit.
    pub(super) fn stores_response(&self, finished: &Finished) -> bool {
        self.request.store && self.outlives_failure(finished)
    }

    /// The record of the turn, appended at `base`.
    pub(super) fn record(
        &self,
        base: Base,
        opened: &Opened,
        fresh: Vec<HeldItem>,
        report: &Report,
        finished: &Finished,
        origin: &Origin,
    ) -> TurnRecord {
        let envelope = Bytes::copy_from_slice(finished.envelope.as_bytes());
        TurnRecord {
            base,
            input: fresh,
            output: self.output_items(finished, origin),
            response: self.request.store.then(|| new_response(opened, envelope, report)),
            request: Some(self.request.identity.digest),
            place: opened.place(),
            notices: Vec::new(),
            ledger: None,
        }
    }

    pub(super) fn output_items(&self, finished: &Finished, origin: &Origin) -> Vec<HeldItem> {
        let held = |output: &Output| {
            let item = output.item.as_ref().unwrap_or(&output.announced);
            let key = self.gateway.fingerprint_key;
            let mut held = HeldItem::new(output.id.clone(), item, key, Some(origin.clone()));
            if output.item.is_none() {
                held.body = Body::Erased;
            }
            held
        };
        finished.output.iter().map(held).collect()
    }

    /// Whether the client learns the response's id before its end and may continue the response. In
    /// the background, the job has its own record.
    pub(super) fn has_opening(&self) -> bool {
        self.request.stream && self.request.store && self.announced.is_none()
    }
}

/// Drops the opening of a turn that panics. Nothing else would drop it while this process lives.
pub(super) struct OpeningGuard<'a> {
    turn: &'a Turn<'a>,
    id: ResponseId,
}

impl Drop for OpeningGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() && self.turn.has_opening() {
            self.turn.drop_opening_later(self.id.clone());
        }
    }
}

fn new_response(opened: &Opened, envelope: Bytes, report: &Report) -> NewResponse {
    NewResponse {
        id: opened.response_id.clone(),
        conversation: opened.conversation.clone(),
        created_at: opened.created_at,
        envelope,
        report: report.to_json().into(),
    }
}

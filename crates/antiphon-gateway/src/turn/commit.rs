//! What a turn leaves behind.

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
use crate::eventually::eventually;

impl Turn<'_> {
    /// Records what will be committed should this process die before the turn ends. Only where the
    /// caller learns the id before the end, and only where the response is kept.
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

    /// Forgets the opening of a turn that leaves nothing: now, or once the store works again.
    ///
    /// It has to go: it would be settled one day, behind turns that came later, though its caller was
    /// told that nothing was changed; and whoever goes on from its response would wait for a turn that
    /// has ended.
    pub(super) async fn drop_opening(&self, opened: &Opened) {
        if self.has_opening() {
            self.drop_recorded_opening(opened).await;
        }
    }

    /// The same of an opening that was recorded, whatever the request wants.
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
            eventually("an opening is not dropped", || store.drop_opening(&tenant, &id)).await;
        };
        self.gateway.turns.spawn(dropping.in_current_span());
    }

    /// Drops the opening if the turn panics while this is held.
    pub(super) fn guard_opening(&self, opened: &Opened) -> OpeningGuard<'_> {
        OpeningGuard { turn: self, id: opened.response_id.clone() }
    }

    /// Commits the turn: its items, and its record where the caller wants one kept.
    ///
    /// A turn that failed leaves its conversation as it was. Where its id was announced it can be
    /// gone on from all the same, so it is kept apart.
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

    /// Whether anything of the turn is stored although it failed, if it did.
    fn outlives_failure(&self, finished: &Finished) -> bool {
        finished.status != Status::Failed || self.has_opening()
    }

    /// Whether the response is stored once the turn is committed.
    pub(super) fn stores_response(&self, finished: &Finished) -> bool {
        self.request.store && self.outlives_failure(finished)
    }

    /// What the turn leaves behind `base`.
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

    /// Whether the caller learns the response's id before its end and may go on from it. In the
    /// background, that is a job's to keep.
    pub(super) fn has_opening(&self) -> bool {
        self.request.stream && self.request.store && self.announced.is_none()
    }
}

/// Drops the opening of a turn that panics: nobody else would while this process lives.
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

//! What the lane of a WebSocket remembers of its turns.
//!
//! A response that is not stored can be gone on from, for as long as its connection lasts and its
//! lane has no later one.

use std::sync::Arc;

use antiphon::stream::{Finished, Status};
use antiphon::{Body, HeldItem, Origin, Transcript};
use antiphon_store::StoreError;

use super::Turn;
use super::open::Opened;
use super::resolve::copies;
use crate::request::Continues;

impl Turn<'_> {
    /// The transcript up to the end of a response that is not stored, where this connection remembers
    /// it.
    pub(super) fn remembered(&self, id: &str) -> Option<Arc<Transcript>> {
        self.request.lane.as_ref()?.recall(id)
    }

    /// What a connection remembers, without what was deleted from the store meanwhile: that reaches no
    /// model again.
    pub(super) async fn without_deleted(
        &self,
        remembered: &Transcript,
    ) -> Result<Transcript, StoreError> {
        let items = remembered.items();
        let ids: Vec<_> = items.iter().map(|item| item.id.clone()).collect();
        let copies = copies(&*self.gateway.store, &self.caller.tenant, &ids).await?;
        let is_deleted = |item: &HeldItem| {
            copies.get(&item.id).is_some_and(|copy| {
                copy.is_tombstone()
                    && copy.head.kind == item.head.kind
                    && copy.fingerprint == item.fingerprint
            })
        };
        let kept = |item: &HeldItem| match is_deleted(item) {
            true => HeldItem { body: Body::Erased, ..item.clone() },
            false => item.clone(),
        };
        Ok(items.iter().map(kept).collect())
    }

    /// Remembers what the turn came to, before its caller is told of the end, and may go on from it.
    /// `transcript` ends with its input. One that failed is forgotten, and so is what it went on from.
    pub(super) fn remember(
        &self,
        opened: &Opened,
        mut transcript: Transcript,
        finished: &Finished,
        origin: &Origin,
    ) {
        if finished.status == Status::Failed {
            return self.forget();
        }
        if let Some(lane) = self.request.lane.as_ref().filter(|_| !self.request.store) {
            for item in self.output_items(finished, origin) {
                transcript.push(item);
            }
            lane.remember(opened.response_id.as_str(), &transcript);
        }
    }

    /// What a turn failed to go on from is not gone on from again: its client sends everything anew.
    /// Source: the provider's guide to its WebSocket mode.
    pub(super) fn forget(&self) {
        if let (Some(lane), Continues::Response(id)) = (&self.request.lane, &self.request.continues)
        {
            lane.forget(id);
        }
    }
}

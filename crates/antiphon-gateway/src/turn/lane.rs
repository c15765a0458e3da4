//! The turns that one lane of a WebSocket connection remembers.
//!
//! A response that is not stored can be continued while its connection is open and its lane has no
//! later response.

use std::sync::Arc;

use antiphon::{Body, HeldItem, Transcript};
use antiphon_store::{ResponseId, StoreError};

use super::context::Turn;
use super::resolve::copies;
use crate::request::Continues;

impl Turn<'_> {
    /// The transcript up to the end of an unstored response, if this connection remembers it.
    pub(super) fn remembered(&self, id: &str) -> Option<Arc<Transcript>> {
        self.request.lane.as_ref()?.recall(id)
    }

    /// Returns a remembered transcript without the items that were since deleted from the store. A
    /// deleted item must reach no model again.
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

    /// Remembers the result of the turn. This happens before the client receives the terminal
    /// event, because the client may continue at once. `transcript` ends with the input of the
    /// turn.
    pub(super) fn remember(
        &self,
        id: &ResponseId,
        mut transcript: Transcript,
        output: impl FnOnce() -> Vec<HeldItem>,
    ) {
        if let Some(lane) = self.request.lane.as_ref().filter(|_| !self.request.store) {
            for item in output() {
                transcript.push(item);
            }
            lane.remember(id.as_str(), &transcript);
        }
    }

    /// Forgets the response that a failed turn tried to continue: the client resends the full
    /// history. Source: the provider's guide to its WebSocket mode.
    pub(super) fn forget(&self) {
        if let (Some(lane), Continues::Response(id)) = (&self.request.lane, &self.request.continues)
        {
            lane.forget(id);
        }
    }
}

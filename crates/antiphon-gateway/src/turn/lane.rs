//! The turns that one lane of a WebSocket connection remembers.
//!
//! A response that is not stored can be continued while its connection is open and its lane has no
//! later response.

use std::sync::Arc;

use antiphon::{Body, HeldItem, Transcript};
use antiphon_store::{ResponseId, StoreError};

use super::context::Turn;
use super::resolve::find_copies;
use crate::request::Continues;

/// The transcript up to the end of an unstored response, if the turn's connection remembers it.
pub(super) fn recall(turn: &Turn<'_>, id: &str) -> Option<Arc<Transcript>> {
    turn.request.lane.as_ref()?.recall(id)
}

/// Erases the items of a remembered transcript that were since deleted from the store. A deleted
/// item must reach no model again.
pub(super) async fn erase_deleted(
    turn: &Turn<'_>,
    remembered: &Transcript,
) -> Result<Transcript, StoreError> {
    let items = remembered.items();
    let ids: Vec<_> = items.iter().map(|item| item.id.clone()).collect();
    let copies = find_copies(&*turn.gateway.store, &turn.caller.tenant, &ids).await?;
    let is_deleted = |item: &HeldItem| {
        copies.get(&item.id).is_some_and(|copy| {
            copy.is_tombstone()
                && copy.head.kind == item.head.kind
                && copy.fingerprint == item.fingerprint
        })
    };
    let erased = |item: &HeldItem| match is_deleted(item) {
        true => HeldItem { body: Body::Erased, ..item.clone() },
        false => item.clone(),
    };
    Ok(items.iter().map(erased).collect())
}

/// Remembers the result of a turn that is not stored. This happens before the client receives the
/// terminal event, because the client may continue at once. `transcript` ends with the turn's
/// input.
pub(super) fn remember(
    turn: &Turn<'_>,
    id: &ResponseId,
    transcript: Arc<Transcript>,
    output: Vec<HeldItem>,
) {
    if let Some(lane) = turn.request.lane.as_ref().filter(|_| !turn.request.store) {
        let mut transcript = Arc::unwrap_or_clone(transcript);
        transcript.extend(output);
        lane.remember(id.as_str(), &transcript);
    }
}

/// Forgets the response that a failed turn tried to continue: the client resends the full history.
/// Source: the provider's guide to its WebSocket mode.
pub(super) fn forget_previous(turn: &Turn<'_>) {
    if let (Some(lane), Continues::Response(id)) = (&turn.request.lane, &turn.request.continues) {
        lane.forget(id);
    }
}

//! The transcripts of recent turns that the store has in memory.

use std::sync::Arc;

use antiphon::{HeldItem, Transcript};
use antiphon_store::{Cursor, ResponseEnd, ResponseId};

use super::context::Turn;
use super::open::Opened;

/// The end of a response that was committed a short time ago.
pub(super) fn end_of(turn: &Turn<'_>, id: &ResponseId) -> Option<ResponseEnd> {
    turn.gateway.store.hot_transcripts()?.end_of(&turn.caller.tenant, id)
}

/// Takes the transcript that ends at this cursor.
pub(super) fn take(turn: &Turn<'_>, cursor: Cursor) -> Option<Transcript> {
    turn.gateway.store.hot_transcripts()?.take(&turn.caller.tenant, cursor)
}

/// Keeps the transcript of a committed turn for the turn that continues it. `transcript` ends with
/// the turn's input, which begins at the position `fresh`.
pub(super) fn keep(
    turn: &Turn<'_>,
    opened: &Opened,
    transcript: Arc<Transcript>,
    fresh: usize,
    output: Vec<HeldItem>,
) {
    let Some((hot, version)) = turn.gateway.store.hot_transcripts().zip(opened.version) else {
        return;
    };
    let mut transcript = Arc::unwrap_or_clone(transcript);
    transcript.extend(output);
    transcript.detach(fresh);
    hot.keep(&turn.caller.tenant, &opened.response_id, transcript, version);
}

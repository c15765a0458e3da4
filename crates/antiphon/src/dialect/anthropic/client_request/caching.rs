//! The marks of `cache_control` in messages.
//!
//! Anthropic caches a prompt up to a marked block. An item has no place for a mark, and clients
//! move it to the newest message with each request, so it is no part of the conversation. The
//! latest one becomes the `cache_control` of the request, with which Anthropic caches the prompt up
//! to its last block. A mark on `system` alone is left out: with the mark of the request, Anthropic
//! would look for the end of the prompt and not for the end of `system`.

use super::RequestDecoder;
use super::field::Fields;
use crate::dialect::UpstreamApi;

const CACHE_CONTROL: &str = "cache_control";

/// Keeps the latest mark for an Anthropic upstream, unless the request has one of its own.
pub(super) fn decode(request: &Fields<'_>, decoder: &mut RequestDecoder) {
    if !decoder.is_for(UpstreamApi::Anthropic) || request.present(CACHE_CONTROL).is_some() {
        return;
    }
    if let Some(mark) = latest_mark(request) {
        decoder.set_raw(CACHE_CONTROL, mark);
    }
}

/// The mark of the last marked block of the messages.
fn latest_mark(request: &Fields<'_>) -> Option<String> {
    let messages = request.present("messages")?;
    if !messages.raw().contains(CACHE_CONTROL) {
        return None;
    }
    messages.array().ok()?.iter().rev().find_map(|message| {
        let message = message.object().ok()?;
        let blocks = message.present("content")?.array().ok()?;
        blocks.iter().rev().find_map(|block| {
            let mark = block.object().ok()?.present(CACHE_CONTROL)?.raw().to_owned();
            Some(mark)
        })
    })
}

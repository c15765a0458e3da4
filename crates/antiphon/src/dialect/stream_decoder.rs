//! Decodes an upstream's stream in its dialect.

use bytes::Bytes;

use super::{Dialect, RequestContext, ai_sdk, anthropic, chat};
use crate::stream::Assembler;

/// The decoder of one answer. It passes the content to an assembler.
///
/// ```text
///   decode (an event's data) ──> … ──> decode ──> finish      for a stream
///   decode_whole (a body)                                     for an answer that is not streamed
/// ```
///
/// The assembler alone creates items, ids, indexes and sequence numbers. Input after the end of the
/// response is ignored.
pub struct StreamDecoder(Box<dyn Decode + Send>);

/// A dialect's decoder.
pub(super) trait Decode {
    /// Decodes the data of one event. Returns an error if the data is not a JSON object, which is a
    /// failure of the upstream.
    fn decode(&mut self, data: &Bytes, assembler: &mut Assembler) -> Result<(), serde_json::Error>;

    /// Decodes an answer that is not streamed.
    fn decode_whole(
        &mut self,
        body: &Bytes,
        assembler: &mut Assembler,
    ) -> Result<(), serde_json::Error>;

    /// Handles `[DONE]`. Not every dialect ends the response with it.
    fn done(&mut self, assembler: &mut Assembler) {
        self.finish(assembler);
    }

    /// Ends the stream. A decoder that has received the end of the response, but waited for later
    /// events, ends the response now. Otherwise the response stays open, because it is truncated.
    fn finish(&mut self, assembler: &mut Assembler) {
        let _ = assembler;
    }
}

impl StreamDecoder {
    /// A decoder for an answer in `dialect`. `context` describes the request.
    pub fn new(dialect: Dialect, context: RequestContext) -> Self {
        Self(match dialect {
            Dialect::Responses => Box::new(Responses),
            Dialect::Chat => Box::new(chat::Stream::new(context)),
            Dialect::Anthropic => Box::new(anthropic::Stream::new(context)),
            Dialect::AiSdk => Box::new(ai_sdk::Stream::new(context)),
        })
    }

    /// Decodes the data of one event: JSON, or `[DONE]`. Invalid UTF-8 is replaced by U+FFFD, and
    /// noted.
    pub fn decode(
        &mut self,
        data: &Bytes,
        assembler: &mut Assembler,
    ) -> Result<(), serde_json::Error> {
        let text = data.trim_ascii();
        if assembler.has_ended() || text.is_empty() {
            return Ok(());
        }
        if text == b"[DONE]" {
            self.0.done(assembler);
            return Ok(());
        }
        decode_lossy(data, assembler, |data, assembler| self.0.decode(data, assembler))
    }

    /// Decodes an answer that is not streamed.
    pub fn decode_whole(
        &mut self,
        body: &Bytes,
        assembler: &mut Assembler,
    ) -> Result<(), serde_json::Error> {
        decode_lossy(body, assembler, |body, assembler| self.0.decode_whole(body, assembler))
    }

    /// Ends the stream. If the response has not ended after this call, it is truncated.
    pub fn finish(&mut self, assembler: &mut Assembler) {
        if !assembler.has_ended() {
            self.0.finish(assembler);
        }
    }
}

/// Decodes `data`. If it is invalid UTF-8, decodes it again with U+FFFD in place of invalid bytes.
/// This is safe because decoders parse first: data that cannot be parsed changes no state.
fn decode_lossy(
    data: &Bytes,
    assembler: &mut Assembler,
    mut decode: impl FnMut(&Bytes, &mut Assembler) -> Result<(), serde_json::Error>,
) -> Result<(), serde_json::Error> {
    let decoded = decode(data, assembler);
    if decoded.is_ok() || str::from_utf8(data).is_ok() {
        return decoded;
    }
    let replaced = String::from_utf8_lossy(data).into_owned().into();
    decode(&replaced, assembler)?;
    assembler.note_invalid_utf8();
    Ok(())
}

/// The decoder of a Responses stream. An assembler decodes its events itself.
struct Responses;

impl Decode for Responses {
    fn decode(&mut self, data: &Bytes, assembler: &mut Assembler) -> Result<(), serde_json::Error> {
        assembler.apply_event(data)
    }

    fn decode_whole(
        &mut self,
        body: &Bytes,
        assembler: &mut Assembler,
    ) -> Result<(), serde_json::Error> {
        assembler.apply_response(body)
    }
}

//! Hears an upstream's stream in its own dialect.

use bytes::Bytes;

use super::{Asked, Dialect, ai_sdk, anthropic, chat, responses};
use crate::stream::Assembler;

/// A decoder of one upstream's one answer, which tells an assembler what it hears.
///
/// ```text
///   hear (an event's data) ──> … ──> hear ──> over      of a stream
///   hear_whole (a body)                                 of an answer that does not stream
/// ```
///
/// It makes no items, ids, indexes or numbers: the assembler does. After the response has ended
/// nothing is heard any more.
pub struct Listener(Box<dyn Decode + Send>);

/// A dialect's decoder.
pub(super) trait Decode {
    /// Takes the data of one event. An error is data that is no JSON object: a failure of the
    /// upstream.
    fn decode(&mut self, data: &Bytes, assembler: &mut Assembler) -> Result<(), serde_json::Error>;

    /// Takes a whole answer, as a server gives it that does not stream.
    fn decode_whole(
        &mut self,
        body: &Bytes,
        assembler: &mut Assembler,
    ) -> Result<(), serde_json::Error>;

    /// The stream says that it is over: `[DONE]`. Not every dialect takes that for an end by
    /// itself.
    fn done(&mut self, assembler: &mut Assembler) {
        self.finish(assembler);
    }

    /// The stream is over. Where the response's end was heard and only waited for what might still
    /// follow it, it ends now; else it stays open, and has broken off.
    fn finish(&mut self, assembler: &mut Assembler) {
        let _ = assembler;
    }
}

impl Listener {
    /// A listener to an answer in `dialect`, to a request of which this is known.
    pub fn new(dialect: Dialect, asked: Asked) -> Self {
        Self(match dialect {
            Dialect::Responses => Box::new(responses::Stream),
            Dialect::Chat => Box::new(chat::Stream::new(asked)),
            Dialect::Anthropic => Box::new(anthropic::Stream::new(asked)),
            Dialect::AiSdk => Box::new(ai_sdk::Stream::new(asked)),
        })
    }

    /// Takes the data of one event: JSON, or `[DONE]`, the end of a stream. Bytes that are not
    /// UTF-8 are replaced by U+FFFD, and noted.
    pub fn hear(
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
        replacing_invalid_utf8(data, assembler, |data, assembler| self.0.decode(data, assembler))
    }

    /// Takes a whole answer, as a server gives it that does not stream.
    pub fn hear_whole(
        &mut self,
        body: &Bytes,
        assembler: &mut Assembler,
    ) -> Result<(), serde_json::Error> {
        replacing_invalid_utf8(body, assembler, |body, assembler| {
            self.0.decode_whole(body, assembler)
        })
    }

    /// The stream is over. A response that has not ended by now has broken off.
    pub fn over(&mut self, assembler: &mut Assembler) {
        if !assembler.has_ended() {
            self.0.finish(assembler);
        }
    }
}

/// Decodes `data`; where it is not UTF-8, once more with U+FFFD in place of the bytes that are not.
/// Decoders parse first: of data that they cannot parse they have taken nothing.
fn replacing_invalid_utf8(
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

//! The Responses API, which an assembler decodes itself.

use bytes::Bytes;

use super::stream_decoder::Decode;
use crate::stream::Assembler;

/// The decoder of a Responses stream.
pub(super) struct Stream;

impl Decode for Stream {
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

//! From the upstream to the caller, event by event.

use antiphon::stream::{Assembler, Decoder, Failure, Frame};
use bytes::Bytes;

use super::{Client, Turn};
use crate::upstream::{ByteStream, Reply, UpstreamError};

/// The bound on one event of an upstream. A completed response stands in one event.
const MAX_EVENT: usize = 64 << 20;

/// How the relay came to its end.
pub(super) enum Outcome {
    /// The response ended, well or not.
    Ended(Assembler),
    /// The caller left before.
    Left(Assembler),
}

impl Turn<'_> {
    /// Relays the answer until it ends or the caller leaves.
    pub(super) async fn relay(
        &self,
        reply: Reply,
        mut assembler: Assembler,
        client: &mut Client,
    ) -> Outcome {
        let left = match reply {
            Reply::Whole(body) => {
                if assembler.hear_whole(&body).is_err() {
                    assembler.fail(failure(&garbled("a body that is no response object")));
                }
                pass_on(&mut assembler, client).await;
                false
            }
            Reply::Events(stream) => self.relay_events(stream, &mut assembler, client).await,
        };
        match left {
            true => Outcome::Left(assembler),
            false => Outcome::Ended(assembler),
        }
    }

    /// Relays a stream to its end; `true` where the turn was left before.
    async fn relay_events(
        &self,
        mut stream: ByteStream,
        assembler: &mut Assembler,
        client: &mut Client,
    ) -> bool {
        let mut decoder = Decoder::new(MAX_EVENT);
        while !assembler.has_ended() {
            let piece = tokio::select! {
                piece = stream.next() => piece,
                () = self.left(client) => return true,
            };
            if let Err(error) = hear_piece(piece, &mut decoder, assembler) {
                assembler.fail(failure(&error));
            }
            pass_on(assembler, client).await;
        }
        false
    }
}

fn hear_piece(
    piece: Option<Result<Bytes, UpstreamError>>,
    decoder: &mut Decoder,
    assembler: &mut Assembler,
) -> Result<(), UpstreamError> {
    match piece {
        Some(Ok(bytes)) => {
            decoder.push(&bytes);
            hear_frames(decoder, assembler)
        }
        Some(Err(error)) => Err(error),
        None => hear_last(decoder, assembler),
    }
}

async fn pass_on(assembler: &mut Assembler, client: &mut Client) {
    while let Some(event) = assembler.next_event() {
        client.event(&event).await;
    }
}

fn hear_frames(decoder: &mut Decoder, assembler: &mut Assembler) -> Result<(), UpstreamError> {
    loop {
        match decoder.next_frame() {
            Ok(Some(frame)) => hear(&frame, assembler)?,
            Ok(None) => return Ok(()),
            Err(error) => return Err(garbled(&error.to_string())),
        }
    }
}

/// The stream is over: what it ended in, if that was an event, else a break.
fn hear_last(decoder: &mut Decoder, assembler: &mut Assembler) -> Result<(), UpstreamError> {
    if let Ok(Some(frame)) = decoder.finish() {
        // What a broken line says is not an event: the break is what there is to tell.
        drop(hear(&frame, assembler));
    }
    if assembler.has_ended() { Ok(()) } else { Err(UpstreamError::BrokeOff) }
}

fn hear(frame: &Frame, assembler: &mut Assembler) -> Result<(), UpstreamError> {
    if &frame.data[..] == b"[DONE]" {
        return Ok(());
    }
    assembler.hear(&frame.data).map_err(|_| garbled("an event that is no JSON object"))
}

fn garbled(what: &str) -> UpstreamError {
    UpstreamError::Garbled(what.to_owned())
}

fn failure(error: &UpstreamError) -> Failure {
    Failure::server_error(error.to_string())
}

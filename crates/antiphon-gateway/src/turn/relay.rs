//! From the upstream to the caller, event by event.

use antiphon::dialect::{Asked, Dialect, Listener};
use antiphon::stream::{Assembler, Decoder, Failure, Finished, TooLong};
use bytes::Bytes;

use super::open::Opened;
use super::{Client, Turn};
use crate::error::ApiError;
use crate::upstream::{ByteStream, Reply, UpstreamError};

/// The bound on one event of an upstream. A completed response stands in one event.
const MAX_EVENT: usize = 64 << 20;

/// How the relay came to its end.
pub(super) enum Outcome {
    /// The response ended, well or not.
    Ended(Assembler),
    /// The caller left before.
    Left(Assembler),
    /// The conversation was deleted before: the response has failed.
    ConversationDeleted(Assembler),
}

/// An upstream's answer as it is heard.
pub(super) struct Hearing {
    decoder: Decoder,
    listener: Listener,
    assembler: Assembler,
}

impl Turn<'_> {
    /// Relays the answer until it ends, the caller leaves or its conversation is deleted.
    pub(super) async fn relay(
        &self,
        reply: Reply,
        mut hearing: Hearing,
        opened: &Opened,
        client: &mut Client,
    ) -> Outcome {
        match reply {
            Reply::Whole(body) => {
                hearing.whole(&body);
                hearing.pass_on(client).await;
                Outcome::Ended(hearing.assembler)
            }
            Reply::Events(stream) => self.relay_events(stream, hearing, opened, client).await,
        }
    }

    async fn relay_events(
        &self,
        mut stream: ByteStream,
        mut hearing: Hearing,
        opened: &Opened,
        client: &mut Client,
    ) -> Outcome {
        while !hearing.assembler.has_ended() {
            let piece = tokio::select! {
                piece = stream.next() => piece,
                () = self.left(client) => return Outcome::Left(hearing.assembler),
                () = opened.conversation_deleted() => {
                    hearing.fail(ApiError::conversation_deleted().message());
                    hearing.pass_on(client).await;
                    return Outcome::ConversationDeleted(hearing.assembler);
                }
            };
            if let Err(error) = hearing.piece(piece) {
                hearing.fail(&error.to_string());
            }
            hearing.pass_on(client).await;
        }
        Outcome::Ended(hearing.assembler)
    }
}

impl Hearing {
    /// An answer in `dialect`, to a request of which `asked` is known.
    pub(super) fn new(dialect: Dialect, asked: Asked, assembler: Assembler) -> Self {
        let listener = Listener::new(dialect, asked);
        Self { decoder: Decoder::new(MAX_EVENT), listener, assembler }
    }

    /// What an answer that has ended came to.
    pub(super) fn finish(self, now: i64) -> Option<Finished> {
        self.assembler.has_ended().then(|| self.assembler.finish(now))
    }

    pub(super) async fn pass_on(&mut self, client: &mut Client) {
        while let Some(event) = self.assembler.next_event() {
            client.event(&event).await;
        }
    }

    fn fail(&mut self, reason: &str) {
        self.assembler.fail(Failure::server_error(reason));
    }

    /// Hears an answer that comes as one object.
    pub(super) fn whole(&mut self, body: &Bytes) {
        if self.listener.hear_whole(body, &mut self.assembler).is_err() {
            self.fail(&garbled("a body that is no response object").to_string());
        }
    }

    /// The next bytes of a stream; `None` where it is over.
    fn piece(&mut self, piece: Option<Result<Bytes, UpstreamError>>) -> Result<(), UpstreamError> {
        let Some(piece) = piece else { return self.last() };
        self.decoder.push(&piece?);
        while let Some(frame) = self.decoder.next_frame().map_err(too_long)? {
            self.event(&frame.data)?;
        }
        Ok(())
    }

    /// The stream is over: what it ended in, if that was an event, else a break.
    fn last(&mut self) -> Result<(), UpstreamError> {
        if let Ok(Some(frame)) = self.decoder.finish() {
            // What a broken line says is not an event: the break is what there is to tell.
            drop(self.event(&frame.data));
        }
        self.listener.over(&mut self.assembler);
        if self.assembler.has_ended() { Ok(()) } else { Err(UpstreamError::BrokeOff) }
    }

    fn event(&mut self, data: &Bytes) -> Result<(), UpstreamError> {
        let heard = self.listener.hear(data, &mut self.assembler);
        heard.map_err(|_| garbled("an event that is no JSON object"))
    }
}

fn too_long(error: TooLong) -> UpstreamError {
    garbled(&error.to_string())
}

fn garbled(what: &str) -> UpstreamError {
    UpstreamError::Garbled(what.to_owned())
}

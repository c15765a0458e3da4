//! Decodes an upstream's answer into the events of the response.

use antiphon::dialect::{RequestContext, StreamDecoder, UpstreamApi};
use antiphon::stream::{Assembler, Decoder, Event, Failure, Finished, TooLong};
use bytes::Bytes;

use super::client::Client;
use super::error::CancelReason;
use crate::compaction::Sealing;
use crate::entropy::unix_now;
use crate::error::ApiError;
use crate::upstream::{Reply, UpstreamError};

/// The end of a response.
pub(super) enum Outcome {
    /// The response ended, successfully or not.
    Ended(Assembler),
    /// The client disconnected before the end.
    Left(Assembler),
    /// The conversation was deleted before the end; the response has failed.
    ConversationDeleted(Assembler),
}

impl Outcome {
    /// Ends the response now and returns its result.
    pub(super) fn finished(self) -> Finished {
        match self {
            Self::Left(assembler) => assembler.finish_disconnected(unix_now()),
            Self::Ended(assembler) | Self::ConversationDeleted(assembler) => {
                assembler.finish(unix_now())
            }
        }
    }
}

/// The end of one answer.
pub(super) enum ReadOutcome {
    /// The answer completed.
    Whole,
    /// The answer broke off or reported a failure.
    Broken(UpstreamError),
    /// Nobody waits for the rest.
    Cancelled(CancelReason),
}

/// Decodes an upstream's answer into the events of the response.
pub(super) struct ResponseReader {
    api: UpstreamApi,
    asked: RequestContext,
    /// The maximum size in bytes of the answer, and of each event.
    max_answer: usize,
    /// The bytes received since the answer's length was last measured.
    unmeasured: usize,
    frames: Decoder,
    decoder: StreamDecoder,
    assembler: Assembler,
    /// Seals content that only the upstream can read; `None` if the upstream has no such content.
    sealing: Option<Sealing>,
}

/// How many bytes of a stream may arrive between two measurements of the answer's length.
const MEASURED_EVERY: usize = 64 << 10;

impl ResponseReader {
    /// Decodes an answer in `dialect`. `asked` holds the facts of the request that decoding needs.
    pub(super) fn new(api: UpstreamApi, asked: RequestContext, assembler: Assembler) -> Self {
        let decoder = StreamDecoder::new(api.into(), asked.clone());
        let max_answer = usize::MAX;
        let frames = Decoder::new(max_answer);
        Self { api, asked, max_answer, unmeasured: 0, frames, decoder, assembler, sealing: None }
    }

    /// Limits the size of the answer and of each event, in bytes.
    pub(super) fn bounded(self, max_answer: usize) -> Self {
        Self { frames: Decoder::new(max_answer), max_answer, ..self }
    }

    /// Seals the upstream's own compactions.
    pub(super) fn sealing(self, sealing: Option<Sealing>) -> Self {
        Self { sealing, ..self }
    }

    /// Decodes an answer to its end. No client receives its events.
    pub(super) async fn hear_out(mut self, reply: Reply) -> Result<Finished, UpstreamError> {
        match reply {
            Reply::Whole(body) => self.hear_whole(&body)?,
            Reply::Events(mut stream) => {
                while !self.assembler.has_ended() {
                    self.piece(stream.next().await)?;
                    while self.assembler.next_event().is_some() {}
                }
            }
        }
        match self.assembler.failure() {
            Some(failure) => Err(UpstreamError::Failed(failure.clone())),
            None => Ok(self.assembler.finish(unix_now())),
        }
    }

    /// Continues a queued response, whose first `told` events exist already.
    pub(super) fn behind(self, told: u64) -> Self {
        Self { assembler: self.assembler.starting_after(told), ..self }
    }

    /// The response as decoded so far.
    pub(super) fn assembler(&self) -> &Assembler {
        &self.assembler
    }

    /// Ends decoding and returns the response.
    pub(super) fn into_assembler(self) -> Assembler {
        self.assembler
    }

    /// The result of an answer that has ended; `None` if it has not.
    pub(super) fn finish(self, now: i64) -> Option<Finished> {
        self.assembler.has_ended().then(|| self.assembler.finish(now))
    }

    pub(super) async fn pass_on(&mut self, client: &mut Client) {
        let events: Vec<Event> = std::iter::from_fn(|| self.assembler.next_event()).collect();
        client.events(events, self.assembler.output_items()).await;
    }

    /// Decodes an answer that arrives as one object.
    pub(super) fn whole(&mut self, body: &Bytes) {
        if let Err(error) = self.hear_whole(body) {
            self.assembler.fail(error.as_failure());
        }
    }

    pub(super) fn hear_whole(&mut self, body: &Bytes) -> Result<(), UpstreamError> {
        let body = self.sealed(body);
        let heard = self.decoder.decode_whole(&body, &mut self.assembler);
        heard.map_err(|_| garbled("a body that is no response object"))
    }

    fn sealed(&mut self, data: &Bytes) -> Bytes {
        match &mut self.sealing {
            Some(sealing) => sealing.apply(data),
            None => data.clone(),
        }
    }

    /// Resets the decoder for another answer that replaces this one.
    pub(super) fn begin_anew(&mut self) {
        self.assembler.reset_for_retry();
        self.frames = Decoder::new(self.max_answer);
        self.decoder = StreamDecoder::new(self.api.into(), self.asked.clone());
    }

    /// Fails the response, unless it has failed already. `error` is for clients that receive no
    /// events.
    pub(super) async fn fail(&mut self, failure: Failure, error: ApiError, client: &mut Client) {
        self.assembler.fail(failure);
        self.pass_on(client).await;
        client.failing(error);
    }

    /// Starts the response before the upstream answers. The client sees it in progress.
    pub(super) async fn start(&mut self, client: &mut Client) {
        self.assembler.start();
        self.pass_on(client).await;
    }

    /// Ends the response because nobody waits for the rest.
    pub(super) async fn leave(mut self, unwanted: CancelReason, client: &mut Client) -> Outcome {
        match unwanted {
            CancelReason::Left => Outcome::Left(self.assembler),
            CancelReason::Cancelled => {
                self.assembler.cancel();
                self.pass_on(client).await;
                Outcome::Ended(self.assembler)
            }
            CancelReason::ConversationDeleted => {
                let error = ApiError::ConversationDeleted;
                self.fail(Failure::server_error(error.to_string()), error, client).await;
                Outcome::ConversationDeleted(self.assembler)
            }
        }
    }

    /// The end of an answer whose last part was decoded with this result.
    pub(super) fn end(&self, heard: Result<(), UpstreamError>) -> ReadOutcome {
        match (heard, self.assembler.failure()) {
            (Err(error), _) => ReadOutcome::Broken(error),
            (Ok(()), Some(failure)) => ReadOutcome::Broken(UpstreamError::Failed(failure.clone())),
            (Ok(()), None) => ReadOutcome::Whole,
        }
    }

    /// Decodes the next bytes of a stream; `None` at its end.
    pub(super) fn piece(
        &mut self,
        piece: Option<Result<Bytes, UpstreamError>>,
    ) -> Result<(), UpstreamError> {
        let Some(piece) = piece else { return self.last() };
        let piece = piece?;
        self.frames.push(&piece);
        while let Some(frame) = self.frames.next_frame().map_err(too_long)? {
            self.event(&frame.data)?;
        }
        self.check_length(piece.len())
    }

    /// Rejects an answer that exceeds the size limit after `more` bytes of its stream. Drops the
    /// part received so far, because its terminal events would need several times as much memory.
    fn check_length(&mut self, more: usize) -> Result<(), UpstreamError> {
        self.unmeasured += more;
        if self.unmeasured < MEASURED_EVERY.min(self.max_answer) {
            return Ok(());
        }
        self.unmeasured = 0;
        if self.assembler.output_length() <= self.max_answer || self.assembler.has_ended() {
            return Ok(());
        }
        self.assembler.discard_output();
        Err(UpstreamError::TooLarge(self.max_answer))
    }

    /// Handles the end of the stream. The rest of the buffer may be a last event; otherwise the
    /// stream broke off.
    fn last(&mut self) -> Result<(), UpstreamError> {
        if let Ok(Some(frame)) = self.frames.finish() {
            // A broken last line is no event. The error to report is the broken stream.
            drop(self.event(&frame.data));
        }
        self.decoder.finish(&mut self.assembler);
        if self.assembler.has_ended() { Ok(()) } else { Err(UpstreamError::BrokeOff) }
    }

    fn event(&mut self, data: &Bytes) -> Result<(), UpstreamError> {
        let data = self.sealed(data);
        let heard = self.decoder.decode(&data, &mut self.assembler);
        heard.map_err(|_| garbled("an event that is no JSON object"))
    }
}

fn too_long(error: TooLong) -> UpstreamError {
    garbled(&error.to_string())
}

fn garbled(what: &str) -> UpstreamError {
    UpstreamError::UnexpectedAnswer(what.to_owned())
}

//! Decodes an upstream's answer into the events of the response.

use antiphon::dialect::{RequestContext, StreamDecoder, UpstreamApi};
use antiphon::stream::{Assembler, Decoder, Failure, Finished, TooLong};
use bytes::Bytes;

use super::cancel::CancelReason;
use super::client::Client;
use crate::compaction::CompactionSealer;
use crate::entropy::unix_now;
use crate::error::{ApiError, TURN_ENDED};
use crate::upstream::{Reply, UpstreamError};

/// The end of a response.
pub(super) enum Outcome {
    /// The response ended, successfully or not.
    Ended(Box<Assembler>),
    /// The client disconnected before the end.
    Disconnected(Box<Assembler>),
    /// The conversation was deleted before the end; the response has failed.
    ConversationDeleted(Box<Assembler>),
}

impl Outcome {
    /// Ends the response now and returns its result.
    pub(super) fn finished(self) -> Finished {
        match self {
            Self::Disconnected(assembler) => assembler.finish_disconnected(unix_now()),
            Self::Ended(assembler) | Self::ConversationDeleted(assembler) => {
                assembler.finish(unix_now())
            }
        }
    }
}

/// The end of one answer of an upstream.
pub(super) enum ReadOutcome {
    /// The answer completed.
    Completed,
    /// The answer broke off or reported a failure.
    Broken(UpstreamError),
    /// Nobody waits for the rest.
    Cancelled(CancelReason),
}

/// Decodes an upstream's answer into the events of the response.
pub(super) struct ResponseReader {
    api: UpstreamApi,
    context: RequestContext,
    /// The maximum size in bytes of the answer, and of each event.
    max_answer: usize,
    /// The bytes received since the answer's length was last measured.
    unmeasured: usize,
    frames: Decoder,
    decoder: StreamDecoder,
    assembler: Box<Assembler>,
    /// Seals content that only the upstream can read; `None` if the upstream has no such content.
    sealing: Option<CompactionSealer>,
}

/// How many bytes of a stream may arrive between two measurements of the answer's length.
const MEASURED_EVERY: usize = 64 << 10;

impl ResponseReader {
    /// Creates a reader of an answer without a size limit.
    pub(super) fn new(api: UpstreamApi, context: RequestContext, assembler: Assembler) -> Self {
        let decoder = StreamDecoder::new(api.into(), context.clone());
        let max_answer = usize::MAX;
        let frames = Decoder::new(max_answer);
        let assembler = Box::new(assembler);
        Self { api, context, max_answer, unmeasured: 0, frames, decoder, assembler, sealing: None }
    }

    /// Limits the size of the answer and of each event, in bytes.
    pub(super) fn with_max_size(self, max_answer: usize) -> Self {
        Self { frames: Decoder::new(max_answer), max_answer, ..self }
    }

    /// Seals the upstream's own compactions.
    pub(super) fn with_sealing(self, sealing: Option<CompactionSealer>) -> Self {
        Self { sealing, ..self }
    }

    /// Decodes a whole answer without a client.
    pub(super) async fn read_to_end(mut self, reply: Reply) -> Result<Finished, UpstreamError> {
        match reply {
            Reply::Whole(body) => self.decode_whole(&body)?,
            Reply::Events(mut stream) => {
                while !self.assembler.has_ended() {
                    self.decode_chunk(stream.next().await)?;
                    self.assembler.take_events();
                }
                stream.finish();
            }
        }
        match self.assembler.failure() {
            Some(failure) => Err(UpstreamError::Failed(failure.clone())),
            None => Ok(self.assembler.finish(unix_now())),
        }
    }

    /// Continues a response whose first `logged` events exist already.
    pub(super) fn starting_after(self, logged: u64) -> Self {
        Self { assembler: Box::new(self.assembler.starting_after(logged)), ..self }
    }

    /// Sends a stored response to the client, except for its end, which it returns. `completed_at`
    /// is in Unix seconds.
    pub(super) async fn replay(
        mut self,
        response: &Bytes,
        completed_at: i64,
        client: &mut Client,
    ) -> Result<Finished, ApiError> {
        if let Err(error) = self.decode_whole(response) {
            self.assembler.fail(error.as_failure());
        }
        self.send_events(client).await;
        if !self.assembler.has_ended() {
            return Err(ApiError::UnreadableAnswer);
        }
        Ok(self.assembler.finish(completed_at))
    }

    /// The response as decoded so far.
    pub(super) fn assembler(&self) -> &Assembler {
        &self.assembler
    }

    /// Ends decoding and returns the response.
    pub(super) fn into_assembler(self) -> Box<Assembler> {
        self.assembler
    }

    /// Sends the events that were decoded since the last call. Returns whether there were any.
    pub(super) async fn send_events(&mut self, client: &mut Client) -> bool {
        let events = self.assembler.take_events();
        let has_events = !events.is_empty();
        client.send_events(events, self.assembler.output_items()).await;
        has_events
    }

    /// Decodes an answer that arrives as one object.
    pub(super) fn decode_whole(&mut self, body: &Bytes) -> Result<(), UpstreamError> {
        let body = self.seal(body);
        let decoded = self.decoder.decode_whole(&body, &mut self.assembler);
        decoded.map_err(|_| unexpected("a body that is not a response object"))
    }

    fn seal(&mut self, data: &Bytes) -> Bytes {
        match &mut self.sealing {
            Some(sealing) => sealing.apply(data),
            None => data.clone(),
        }
    }

    /// Resets the decoder for another answer that replaces this one.
    pub(super) fn reset(&mut self) {
        self.assembler.reset_for_retry();
        self.frames = Decoder::new(self.max_answer);
        self.decoder = StreamDecoder::new(self.api.into(), self.context.clone());
    }

    /// Fails the response, unless it has failed already. `error` is for clients that receive no
    /// events.
    pub(super) async fn fail(&mut self, failure: Failure, error: ApiError, client: &mut Client) {
        self.assembler.fail(failure);
        self.send_events(client).await;
        client.set_failure(error);
    }

    /// Starts the response before the upstream answers. The client sees it in progress.
    pub(super) async fn start(&mut self, client: &mut Client) {
        self.assembler.start();
        self.send_events(client).await;
    }

    /// Ends the response because nobody waits for the rest.
    pub(super) async fn cancel(mut self, reason: CancelReason, client: &mut Client) -> Outcome {
        match reason {
            CancelReason::Disconnected => Outcome::Disconnected(self.assembler),
            CancelReason::Cancelled => {
                self.assembler.cancel();
                self.send_events(client).await;
                Outcome::Ended(self.assembler)
            }
            CancelReason::Ended => {
                let error = ApiError::TurnEnded;
                let failure = Failure { code: TURN_ENDED.into(), message: error.to_string() };
                self.fail(failure, error, client).await;
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
    pub(super) fn outcome(&self, decoded: Result<(), UpstreamError>) -> ReadOutcome {
        match (decoded, self.assembler.failure()) {
            (Err(error), _) => ReadOutcome::Broken(error),
            (Ok(()), Some(failure)) => ReadOutcome::Broken(UpstreamError::Failed(failure.clone())),
            (Ok(()), None) => ReadOutcome::Completed,
        }
    }

    /// Decodes the next bytes of a stream; `None` at its end.
    pub(super) fn decode_chunk(
        &mut self,
        chunk: Option<Result<Bytes, UpstreamError>>,
    ) -> Result<(), UpstreamError> {
        let Some(chunk) = chunk else { return self.decode_end() };
        let chunk = chunk?;
        self.frames.push(&chunk);
        let too_long = |error: TooLong| unexpected(&error.to_string());
        while let Some(frame) = self.frames.next_frame().map_err(too_long)? {
            self.decode_event(&frame.data)?;
        }
        self.check_length(chunk.len())
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
    fn decode_end(&mut self) -> Result<(), UpstreamError> {
        if let Ok(Some(frame)) = self.frames.finish() {
            // A broken last line is no event. The error to report is the broken stream.
            drop(self.decode_event(&frame.data));
        }
        self.decoder.finish(&mut self.assembler);
        if self.assembler.has_ended() { Ok(()) } else { Err(UpstreamError::BrokeOff) }
    }

    fn decode_event(&mut self, data: &Bytes) -> Result<(), UpstreamError> {
        let data = self.seal(data);
        let decoded = self.decoder.decode(&data, &mut self.assembler);
        decoded.map_err(|_| unexpected("an event that is not a JSON object"))
    }
}

fn unexpected(answer: &str) -> UpstreamError {
    UpstreamError::UnexpectedAnswer(answer.to_owned())
}

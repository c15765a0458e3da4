//! The fourth stage: a turn whose answer is passed on to the client, event by event.

use std::sync::Arc;

use antiphon::stream::UsedIds;
use bytes::Bytes;

use super::cancel::{CancelReason, TurnError, cancelled};
use super::client::Client;
use super::commit::EndedTurn;
use super::plan::{Plan, PlannedTurn};
use super::reader::{Outcome, ReadOutcome, ResponseReader};
use super::send::PromptSender;
use super::sending::SendingTurn;
use crate::span::{ErrorType as _, Stage};
use crate::upstream::{ByteStream, Reply, UpstreamError};

/// The answer to a request that only prepares the next turn.
const EMPTY_ANSWER: &[u8] = concat!(
    r#"{"status":"completed","output":[],"usage":{"#,
    r#""input_tokens":0,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"#,
    r#""output_tokens":0,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":0}}"#,
)
.as_bytes();

/// How many bytes that have arrived are decoded before their events are sent: about one read.
const BATCH: usize = 32 << 10;

/// A turn that passes its answer on.
pub(super) struct StreamingTurn<'a> {
    sending: SendingTurn<'a>,
    reader: ResponseReader,
}

impl<'a> StreamingTurn<'a> {
    pub(super) fn new(sending: SendingTurn<'a>, reader: ResponseReader) -> Self {
        Self { sending, reader }
    }

    /// Relays the answer until it ends, the client disconnects or the conversation is deleted. If
    /// the answer fails before its first output event, asks for another one while that can help.
    pub(super) async fn relay(
        mut self: Box<Self>,
        mut reply: Reply,
        client: &mut Client,
    ) -> EndedTurn<'a> {
        let _stage = self.sending.sender.planner.turn.stage(Stage::Stream);
        loop {
            let error = match self.read(reply, client).await {
                ReadOutcome::Completed => return self.end(),
                ReadOutcome::Cancelled(reason) => {
                    return Box::pin(self.cancel(reason, client)).await;
                }
                ReadOutcome::Broken(error) => error,
            };
            let SendingTurn { sender, opened, plan, .. } = &mut self.sending;
            let turn = sender.planner.turn;
            sender.planner.upstream.report_broken(&error);
            let again = tokio::select! {
                again = Box::pin(request_again(sender, plan, &mut self.reader, error)) => Ok(again),
                reason = cancelled(turn, opened, client) => Err(reason),
            };
            reply = match again {
                Ok(Ok(reply)) => reply,
                Ok(Err(error)) => {
                    sender.chat().fail(&error.error_type());
                    self.reader.fail(error.as_failure(), error.into(), client).await;
                    return self.end();
                }
                Err(reason) => return Box::pin(self.cancel(reason, client)).await,
            };
        }
    }

    /// Ends the response of a background turn whose upstream gave no answer.
    pub(super) async fn end_unanswered(
        mut self: Box<Self>,
        error: TurnError,
        client: &mut Client,
    ) -> EndedTurn<'a> {
        match error {
            TurnError::Cancelled(reason) => self.cancel(reason, client).await,
            TurnError::Failed(error) => {
                self.reader.fail(error.as_failure(), error, client).await;
                self.end()
            }
        }
    }

    async fn read(&mut self, reply: Reply, client: &mut Client) -> ReadOutcome {
        let reader = &mut self.reader;
        match reply {
            Reply::Whole(body) => {
                let decoded = reader.decode_whole(&body);
                reader.send_events(client).await;
                reader.outcome(decoded)
            }
            Reply::Events(stream) => self.read_events(stream, client).await,
        }
    }

    async fn read_events(&mut self, mut stream: ByteStream, client: &mut Client) -> ReadOutcome {
        let Self { sending, reader } = self;
        let turn = sending.sender.planner.turn;
        loop {
            let chunk = tokio::select! {
                chunk = stream.next() => chunk,
                reason = cancelled(turn, &sending.opened, client) => {
                    return ReadOutcome::Cancelled(reason);
                }
            };
            sending.sender.chat().record_chunk();
            let mut room = BATCH.saturating_sub(chunk.as_ref().map_or(BATCH, length));
            let mut decoded = reader.decode_chunk(chunk);
            while room > 0 && decoded.is_ok() && !reader.assembler().has_ended() {
                let Some(chunk) = stream.next_arrived() else { break };
                room = room.saturating_sub(length(&chunk));
                decoded = reader.decode_chunk(Some(chunk));
            }
            if reader.send_events(client).await {
                turn.clock.mark_event();
            }
            if decoded.is_err() {
                return reader.outcome(decoded);
            }
            if reader.assembler().has_ended() {
                stream.finish();
                return reader.outcome(decoded);
            }
        }
    }

    fn end(self: Box<Self>) -> EndedTurn<'a> {
        let Self { sending, reader } = *self;
        EndedTurn::new(sending, Outcome::Ended(reader.into_assembler()))
    }

    async fn cancel(self: Box<Self>, reason: CancelReason, client: &mut Client) -> EndedTurn<'a> {
        let Self { sending, reader } = *self;
        EndedTurn::new(sending, reader.cancel(reason, client).await)
    }
}

fn length(chunk: &Result<Bytes, UpstreamError>) -> usize {
    chunk.as_ref().map_or(0, Bytes::len)
}

/// Asks for another answer after a failure. Returns the error if a retry cannot help.
async fn request_again(
    sender: &mut PromptSender<'_>,
    plan: &mut Plan,
    reader: &mut ResponseReader,
    error: UpstreamError,
) -> Result<Reply, UpstreamError> {
    if reader.assembler().has_emitted_output() {
        return Err(error);
    }
    if let Some(shorter) = sender.shorten(&error, &plan.prompt, plan).await {
        shorter.replace_in(plan);
    } else if !sender.backoff(&error).await {
        let explained = sender.planner.explain(error, &plan.prompt).await;
        if matches!(explained, UpstreamError::TooLong(_)) {
            // This error has more detail than the upstream's own.
            reader.reset();
        }
        return Err(explained);
    }
    reader.reset();
    Ok(sender.send(plan).await?.report_in(plan))
}

impl<'a> PlannedTurn<'a> {
    /// Answers with an empty response that can be continued, to prepare the next turn. No model is
    /// asked, and no token is used.
    pub(super) async fn answer_without_model(self, client: &mut Client) -> EndedTurn<'a> {
        client.begin_answer(self.head());
        let turn = self.planner.turn;
        let envelope = self.opened.envelope(&turn.request.object());
        let mut assembler =
            turn.assembler(envelope, UsedIds::from_shared(Arc::clone(&self.plan.transcript)));
        assembler.apply_response(&Bytes::from_static(EMPTY_ANSWER)).expect("the constant is JSON");
        let events = assembler.take_events();
        client.send_events(events, assembler.output_items()).await;
        EndedTurn::new(SendingTurn::new(self), Outcome::Ended(Box::new(assembler)))
    }
}

//! Relays an answer to the client, after the response is in the ledger.

use antiphon_store::UpstreamId;

use super::UpstreamTurn;
use super::attempt::Failed;
use super::plan::Plan;
use crate::error::ApiError;
use crate::turn::Client;
use crate::turn::cancel::cancelled;
use crate::turn::open::Opened;
use crate::turn::reader::{Outcome, ReadOutcome, ResponseReader};
use crate::upstream::{ByteStream, Reply, UpstreamError};

/// The end of an answer.
pub(super) struct Answered {
    pub(super) outcome: Outcome,
    /// The upstream's name for the response; `None` if the answer ended before its id arrived.
    pub(super) named: Option<UpstreamId>,
}

/// The state of an answer while it is relayed.
struct RelayState<'a> {
    opened: &'a Opened,
    plan: &'a Plan,
    named: Option<UpstreamId>,
}

impl UpstreamTurn<'_> {
    /// Relays the answer until it ends, the client disconnects or the conversation is deleted.
    /// Fails only if the client has received nothing of the answer.
    pub(super) async fn relay(
        &self,
        reply: Reply,
        mut reader: ResponseReader,
        opened: &Opened,
        plan: &Plan,
        client: &mut Client,
    ) -> Result<Answered, Failed> {
        let mut state = RelayState { opened, plan, named: None };
        let read = match reply {
            Reply::Whole(body) => {
                let read = reader.decode_whole(&body);
                self.pass_on(&mut reader, &mut state, client).await.map(|()| reader.outcome(read))
            }
            Reply::Events(stream) => {
                self.read_events(stream, &mut reader, &mut state, client).await
            }
        };
        let outcome = match read {
            Ok(ReadOutcome::Completed) => Outcome::Ended(reader.into_assembler()),
            Ok(ReadOutcome::Cancelled(reason)) => reader.cancel(reason, client).await,
            Ok(ReadOutcome::Broken(error)) if state.has_begun(client, &error) => {
                reader.fail(error.as_failure(), error.into(), client).await;
                Outcome::Ended(reader.into_assembler())
            }
            Ok(ReadOutcome::Broken(error)) => {
                return Err(self.end_unannounced(&state, error.into()).await);
            }
            Err(error) => return Err(self.end_unannounced(&state, error.into()).await),
        };
        Ok(Answered { outcome, named: state.named })
    }

    async fn read_events(
        &self,
        mut stream: ByteStream,
        reader: &mut ResponseReader,
        state: &mut RelayState<'_>,
        client: &mut Client,
    ) -> Result<ReadOutcome, ApiError> {
        loop {
            let chunk = tokio::select! {
                chunk = stream.next() => chunk,
                reason = cancelled(self.turn, state.opened, client) => {
                    return Ok(ReadOutcome::Cancelled(reason));
                }
            };
            let read = reader.decode_chunk(chunk);
            self.pass_on(reader, state, client).await?;
            if read.is_err() || reader.assembler().has_ended() {
                return Ok(reader.outcome(read));
            }
        }
    }

    /// Passes on the decoded events, once the response is in the ledger.
    async fn pass_on(
        &self,
        reader: &mut ResponseReader,
        state: &mut RelayState<'_>,
        client: &mut Client,
    ) -> Result<(), ApiError> {
        if state.named.is_none() {
            let Some(id) = response_id(reader, state.opened)? else { return Ok(()) };
            let named = self.named(&id);
            self.announce(&named, state.opened).await?;
            client.begin_answer(state.plan.report.head_unnamed());
            state.named = Some(named);
        }
        reader.send_events(client).await;
        Ok(())
    }

    /// Cleans up after an answer that failed before the client received any of it. After a state
    /// error the upstream has stored nothing; after any other failure it may have stored the turn.
    async fn end_unannounced(&self, state: &RelayState<'_>, failed: Failed) -> Failed {
        match failed.fault {
            Some(_) => self.drop_pending_turn(state.opened).await,
            None => self.abandon(state.opened, state.plan).await,
        }
        failed
    }
}

impl RelayState<'_> {
    /// Whether the failure must be reported as part of the response. A client that waits for the
    /// whole answer has received nothing yet, so a request with a state error can still be retried.
    fn has_begun(&self, client: &Client, error: &UpstreamError) -> bool {
        let may_be_sent_again = client.awaits_whole() && error.state_error().is_some();
        self.named.is_some() && !may_be_sent_again
    }
}

impl Answered {
    /// Whether the client disconnected before the end.
    pub(super) fn is_abandoned(&self) -> bool {
        matches!(self.outcome, Outcome::Disconnected(_))
    }
}

/// The upstream's id of the response, once it has arrived. No event is passed on before, not even a
/// failure: the code that ends the relay handles it.
fn response_id(reader: &ResponseReader, opened: &Opened) -> Result<Option<String>, ApiError> {
    let assembler = reader.assembler();
    let local = opened.response_id.as_str();
    match assembler.response_id() {
        Some(id) if id != local => Ok(Some(id)),
        Some(_) if assembler.failure().is_none() => {
            Err(UpstreamError::UnexpectedAnswer("a response without an id".into()).into())
        }
        _ => Ok(None),
    }
}

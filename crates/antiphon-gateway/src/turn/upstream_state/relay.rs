//! Relays an answer to the client, after the response is in the ledger.

use antiphon_store::Named;

use super::UpstreamTurn;
use super::attempt::Failed;
use super::plan::Plan;
use crate::error::ApiError;
use crate::turn::Client;
use crate::turn::open::Opened;
use crate::turn::relay::{Outcome, ReadOutcome, ResponseReader};
use crate::upstream::{ByteStream, Reply, UpstreamError};

/// The end of an answer.
pub(super) struct Answered {
    pub(super) outcome: Outcome,
    /// The upstream's name for the response; `None` if the answer ended before its id arrived.
    pub(super) named: Option<Named>,
}

/// The state of an answer while it is relayed.
struct RelayState<'a> {
    opened: &'a Opened,
    plan: &'a Plan,
    named: Option<Named>,
}

impl UpstreamTurn<'_> {
    /// Relays the answer until it ends, the client disconnects or the conversation is deleted.
    /// Fails only if the client has received nothing of the answer.
    pub(super) async fn relay(
        &self,
        reply: Reply,
        mut hearing: ResponseReader,
        opened: &Opened,
        plan: &Plan,
        client: &mut Client,
    ) -> Result<Answered, Failed> {
        let mut telling = RelayState { opened, plan, named: None };
        let heard = match reply {
            Reply::Whole(body) => {
                let heard = hearing.hear_whole(&body);
                self.tell(&mut hearing, &mut telling, client).await.map(|()| hearing.end(heard))
            }
            Reply::Events(stream) => {
                self.hear_events(stream, &mut hearing, &mut telling, client).await
            }
        };
        let outcome = match heard {
            Ok(ReadOutcome::Whole) => Outcome::Ended(hearing.into_assembler()),
            Ok(ReadOutcome::CancelReason(unwanted)) => hearing.leave(unwanted, client).await,
            Ok(ReadOutcome::Broken(error)) if telling.has_told(client, &error) => {
                hearing.fail(error.as_failure(), error.into(), client).await;
                Outcome::Ended(hearing.into_assembler())
            }
            Ok(ReadOutcome::Broken(error)) => {
                return Err(self.untold(&telling, error.into()).await);
            }
            Err(error) => return Err(self.untold(&telling, error.into()).await),
        };
        Ok(Answered { outcome, named: telling.named })
    }

    async fn hear_events(
        &self,
        mut stream: ByteStream,
        hearing: &mut ResponseReader,
        telling: &mut RelayState<'_>,
        client: &mut Client,
    ) -> Result<ReadOutcome, ApiError> {
        loop {
            let piece = tokio::select! {
                piece = stream.next() => piece,
                unwanted = self.turn.unwanted(telling.opened, client) => {
                    return Ok(ReadOutcome::CancelReason(unwanted));
                }
            };
            let heard = hearing.piece(piece);
            self.tell(hearing, telling, client).await?;
            if heard.is_err() || hearing.assembler().has_ended() {
                return Ok(hearing.end(heard));
            }
        }
    }

    /// Passes on the decoded events, once the response is in the ledger.
    async fn tell(
        &self,
        hearing: &mut ResponseReader,
        telling: &mut RelayState<'_>,
        client: &mut Client,
    ) -> Result<(), ApiError> {
        if telling.named.is_none() {
            let Some(id) = id_told(hearing, telling.opened)? else { return Ok(()) };
            let named = self.named(&id);
            self.announce(&named, telling.opened).await?;
            client.begin(telling.plan.report.head_unnamed());
            telling.named = Some(named);
        }
        hearing.pass_on(client).await;
        Ok(())
    }

    /// Cleans up after an answer that failed before the client received any of it. After a state
    /// error the upstream has stored nothing; after any other failure it may have stored the turn.
    async fn untold(&self, telling: &RelayState<'_>, failed: Failed) -> Failed {
        match failed.fault {
            Some(_) => self.drop_opening(telling.opened).await,
            None => self.leave(telling.opened, telling.plan).await,
        }
        failed
    }
}

impl RelayState<'_> {
    /// Whether the failure must be reported as part of the response. A client that waits for the
    /// whole answer has received nothing yet, so a request with a state error can still be retried.
    fn has_told(&self, client: &Client, error: &UpstreamError) -> bool {
        let may_be_sent_again = client.awaits_whole() && error.state_error().is_some();
        self.named.is_some() && !may_be_sent_again
    }
}

impl Answered {
    /// Whether the client disconnected before the end.
    pub(super) fn is_left(&self) -> bool {
        matches!(self.outcome, Outcome::Left(_))
    }
}

/// The upstream's id of the response, once it has arrived. No event is passed on before, not even a
/// failure: the code that ends the relay handles it.
fn id_told(hearing: &ResponseReader, opened: &Opened) -> Result<Option<String>, ApiError> {
    let assembler = hearing.assembler();
    let local = opened.response_id.as_str();
    match assembler.response_id() {
        Some(id) if id != local => Ok(Some(id)),
        Some(_) if assembler.failure().is_none() => {
            Err(UpstreamError::UnexpectedAnswer("a response without an id".into()).into())
        }
        _ => Ok(None),
    }
}

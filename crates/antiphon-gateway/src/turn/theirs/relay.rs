//! From the upstream to the caller: nobody is told of a response that is not in the ledger.

use antiphon_store::Named;

use super::Theirs;
use super::attempt::Failed;
use super::plan::Plan;
use crate::error::ApiError;
use crate::turn::Client;
use crate::turn::open::Opened;
use crate::turn::relay::{Heard, Hearing, Outcome};
use crate::upstream::{ByteStream, Reply, UpstreamError};

/// How an answer came to its end.
pub(super) struct Answered {
    pub(super) outcome: Outcome,
    /// What the upstream calls the response; `None` where the answer ended before that was told.
    pub(super) named: Option<Named>,
}

/// What becomes known of an answer while it is heard.
struct Telling<'a> {
    opened: &'a Opened,
    plan: &'a Plan,
    named: Option<Named>,
}

impl Theirs<'_> {
    /// Relays the answer until it ends, the caller leaves or its conversation is deleted. An error
    /// where it came to nothing before its first event: the caller was told nothing.
    pub(super) async fn relay(
        &self,
        reply: Reply,
        mut hearing: Hearing,
        opened: &Opened,
        plan: &Plan,
        client: &mut Client,
    ) -> Result<Answered, Failed> {
        let mut telling = Telling { opened, plan, named: None };
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
            Ok(Heard::Whole) => Outcome::Ended(hearing.into_assembler()),
            Ok(Heard::Unwanted(unwanted)) => hearing.leave(unwanted, client).await,
            Ok(Heard::Broken(error)) if telling.has_told(client, &error) => {
                hearing.fail(error.as_failure(), error.into(), client).await;
                Outcome::Ended(hearing.into_assembler())
            }
            Ok(Heard::Broken(error)) => return Err(self.untold(&telling, error.into()).await),
            Err(error) => return Err(self.untold(&telling, error.into()).await),
        };
        Ok(Answered { outcome, named: telling.named })
    }

    async fn hear_events(
        &self,
        mut stream: ByteStream,
        hearing: &mut Hearing,
        telling: &mut Telling<'_>,
        client: &mut Client,
    ) -> Result<Heard, ApiError> {
        loop {
            let piece = tokio::select! {
                piece = stream.next() => piece,
                unwanted = self.turn.unwanted(telling.opened, client) => {
                    return Ok(Heard::Unwanted(unwanted));
                }
            };
            let heard = hearing.piece(piece);
            self.tell(hearing, telling, client).await?;
            if heard.is_err() || hearing.assembler().has_ended() {
                return Ok(hearing.end(heard));
            }
        }
    }

    /// Passes on what was heard, once the response is in the ledger.
    async fn tell(
        &self,
        hearing: &mut Hearing,
        telling: &mut Telling<'_>,
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

    /// The turn came to nothing of which anybody was told. What does not fit the state has left nothing;
    /// what broke off may be there.
    async fn untold(&self, telling: &Telling<'_>, failed: Failed) -> Failed {
        match failed.fault {
            Some(_) => self.drop_opening(telling.opened).await,
            None => self.leave(telling.opened, telling.plan).await,
        }
        failed
    }
}

impl Telling<'_> {
    /// Whether the caller was told of the response that now comes to nothing. One that waits for the whole
    /// is told nothing before its end, so that what does not fit the state may be sent once more.
    fn has_told(&self, client: &Client, error: &UpstreamError) -> bool {
        let may_be_sent_again = client.awaits_whole() && error.state_error().is_some();
        self.named.is_some() && !may_be_sent_again
    }
}

impl Answered {
    /// Whether its caller left before the end, and is told of nothing.
    pub(super) fn is_left(&self) -> bool {
        matches!(self.outcome, Outcome::Left(_))
    }
}

/// The upstream's id of the response, once it has told it. Nothing else is told before, a failure
/// included: that is for whoever hears the answer.
fn id_told(hearing: &Hearing, opened: &Opened) -> Result<Option<String>, ApiError> {
    let assembler = hearing.assembler();
    let local = opened.response_id.as_str();
    match assembler.response_id() {
        Some(id) if id != local => Ok(Some(id)),
        Some(_) if assembler.failure().is_none() => {
            Err(UpstreamError::Garbled("a response without an id".into()).into())
        }
        _ => Ok(None),
    }
}

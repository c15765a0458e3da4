//! Relays an answer to the client, after the response is in the ledger.

use antiphon::stream::UsedIds;
use antiphon_store::UpstreamId;

use super::prepare::PlannedAtUpstream;
use super::send::Failed;
use crate::error::ApiError;
use crate::span::ErrorType as _;
use crate::trace::ChatSpan;
use crate::turn::Client;
use crate::turn::cancel::{TurnError, cancelled};
use crate::turn::reader::{Outcome, ReadOutcome, ResponseReader};
use crate::upstream::{ByteStream, Reply, Upstream, UpstreamError};

/// An answer that is passed on to the client.
pub(super) struct Relaying<'p, 'a> {
    planned: &'p PlannedAtUpstream<'a>,
    reader: ResponseReader,
    named: Option<UpstreamId>,
}

/// The end of an answer.
pub(super) struct Relayed {
    pub(super) outcome: Outcome,
    /// The upstream's name for the response; `None` if the answer ended before its id arrived.
    pub(super) named: Option<UpstreamId>,
}

impl<'p, 'a> Relaying<'p, 'a> {
    pub(super) fn new(planned: &'p PlannedAtUpstream<'a>) -> Self {
        let (at, place) = (planned.opened.at, &planned.opened.place);
        let used = UsedIds::item_ids_only(&planned.plan().transcript);
        let reader = at.reader(place.response_id.as_str(), place.created_at, used);
        let reader = reader.with_max_size(Upstream::Http(at.http).max_event());
        Self { planned, reader, named: None }
    }

    /// Relays the answer until it ends, the client disconnects or the conversation is deleted.
    /// Fails only if the client has received nothing of the answer.
    pub(super) async fn relay(
        mut self,
        reply: Reply,
        chat: &mut ChatSpan,
        client: &mut Client,
    ) -> Result<Relayed, Failed> {
        let read = match reply {
            Reply::Whole(body) => {
                let read = self.reader.decode_whole(&body);
                self.pass_on(client).await.map(|()| self.reader.outcome(read))
            }
            Reply::Events(stream) => self.read_events(stream, chat, client).await,
        };
        if let Ok(ReadOutcome::Broken(error)) = &read {
            Upstream::Http(self.planned.opened.at.http).report_broken(error);
        }
        let failed: Failed = match read {
            Ok(ReadOutcome::Broken(error)) if !self.has_begun(client, &error) => error.into(),
            Err(error) => TurnError::from(error).into(),
            Ok(read) => {
                if let ReadOutcome::Broken(error) = &read {
                    chat.fail(&error.error_type());
                }
                return Ok(self.end(read, client).await);
            }
        };
        // After a state error the upstream has stored nothing; after any other failure it may have
        // stored the turn.
        match failed.fault {
            Some(_) => self.planned.opened.drop_pending_turn().await,
            None => self.planned.abandon().await,
        }
        Err(failed)
    }

    async fn end(mut self, read: ReadOutcome, client: &mut Client) -> Relayed {
        let outcome = match read {
            ReadOutcome::Completed => Outcome::Ended(self.reader.into_assembler()),
            ReadOutcome::Cancelled(reason) => self.reader.cancel(reason, client).await,
            ReadOutcome::Broken(error) => {
                self.reader.fail(error.as_failure(), error.into(), client).await;
                Outcome::Ended(self.reader.into_assembler())
            }
        };
        Relayed { outcome, named: self.named }
    }

    async fn read_events(
        &mut self,
        mut stream: ByteStream,
        chat: &mut ChatSpan,
        client: &mut Client,
    ) -> Result<ReadOutcome, ApiError> {
        let opened = &self.planned.opened;
        loop {
            let chunk = tokio::select! {
                chunk = stream.next() => chunk,
                reason = cancelled(opened.at.turn, &opened.place, client) => {
                    return Ok(ReadOutcome::Cancelled(reason));
                }
            };
            chat.record_chunk();
            let read = self.reader.decode_chunk(chunk);
            self.pass_on(client).await?;
            if read.is_err() {
                return Ok(self.reader.outcome(read));
            }
            if self.reader.assembler().has_ended() {
                stream.finish();
                return Ok(self.reader.outcome(read));
            }
        }
    }

    /// Passes on the decoded events, once the response is in the ledger.
    async fn pass_on(&mut self, client: &mut Client) -> Result<(), ApiError> {
        if self.named.is_none() {
            let Some(id) = self.response_id()? else { return Ok(()) };
            let PlannedAtUpstream { opened, report, .. } = self.planned;
            let named = opened.at.named(&id);
            opened.announce(&named).await?;
            client.begin_answer(report.head_unnamed());
            self.named = Some(named);
        }
        if self.reader.send_events(client).await {
            self.planned.opened.at.turn.clock.mark_event();
        }
        Ok(())
    }

    /// The upstream's id of the response, once it has arrived. No event is passed on before, not
    /// even a failure: the code that ends the relay handles it.
    fn response_id(&self) -> Result<Option<String>, ApiError> {
        let assembler = self.reader.assembler();
        let local = self.planned.opened.place.response_id.as_str();
        match assembler.response_id() {
            Some(id) if id != local => Ok(Some(id)),
            Some(_) if assembler.failure().is_none() => {
                Err(UpstreamError::UnexpectedAnswer("a response without an id".into()).into())
            }
            _ => Ok(None),
        }
    }

    /// Whether the failure must be reported as part of the response. A client that waits for the
    /// whole answer has received nothing yet, so a request with a state error can still be retried.
    fn has_begun(&self, client: &Client, error: &UpstreamError) -> bool {
        let may_be_sent_again = client.awaits_whole() && error.state_error().is_some();
        self.named.is_some() && !may_be_sent_again
    }
}

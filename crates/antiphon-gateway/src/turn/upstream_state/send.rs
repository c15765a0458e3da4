//! Sends the request of a planned turn. If the upstream's state differs from the ledger, sends it
//! once more after a resync.

use antiphon::Item;
use antiphon::provider_api::depends_on_state;
use antiphon::stateful::Action;
use http::StatusCode;
use tokio::time::Instant;

use super::commit::RelayedAtUpstream;
use super::prepare::{PlannedAtUpstream, Prepared, PreparingAtUpstream};
use super::queued::{Queued, QueuedAtUpstream};
use super::relay::{Relayed, Relaying};
use crate::error::ApiError;
use crate::turn::Client;
use crate::turn::cancel::{TurnError, run_unless_cancelled};
use crate::turn::encode;
use crate::upstream::{LockWait, Reply, RetrySession, StateError, Upstream, UpstreamError};

/// A turn with an answer.
pub(super) enum Answered<'a> {
    /// An answer that was passed on to the client.
    Relayed(Box<RelayedAtUpstream<'a>>),
    /// A response in the upstream's own background.
    Queued(Box<QueuedAtUpstream<'a>>),
    /// The replayed answer of an earlier attempt, which held the conversation's lock.
    ByPriorAttempt,
}

/// The answer to an attempt.
enum Answer {
    Relayed(Box<Relayed>),
    Queued(Queued),
}

/// The error of an attempt of which the client has received nothing.
pub(super) struct Failed {
    pub(super) error: TurnError,
    /// The mismatch with the upstream's state, if that is the cause.
    pub(super) fault: Option<StateError>,
}

impl<'a> PlannedAtUpstream<'a> {
    /// Sends the request and passes the answer on.
    ///
    /// If the upstream rejects the request because its state differs from the ledger
    /// ([`StateError`]), resyncs the ledger, plans again and retries once, unless
    /// [`Faults::Reject`](crate::settings::Faults::Reject) is set. If the retry fails too, returns
    /// its error.
    pub(super) async fn send(mut self, client: &mut Client) -> Result<Answered<'a>, TurnError> {
        let at = self.opened.at;
        let mut session = RetrySession::new(Upstream::Http(at.http), &at.turn.request.model);
        let left = at.waits_until.saturating_duration_since(Instant::now());
        let mut lock = LockWait::within(left);
        loop {
            let failed = match self.attempt(&mut session, client).await {
                Ok(answer) => {
                    self.report.set_retries(session.retries());
                    return Ok(self.into_answered(answer));
                }
                Err(failed) => failed,
            };
            self.preparation.reject(failed.fault);
            match (self.preparation.action(), failed.error) {
                // Another client has locked the conversation, or a turn of this gateway that was
                // abandoned still runs there.
                (Action::Wait, error) => {
                    let waited = async { Ok::<_, ApiError>(lock.wait().await) };
                    if !run_unless_cancelled(at.turn, waited, &self.opened.place, client).await? {
                        return Err(error);
                    }
                    self.preparation.resume();
                }
                (_, TurnError::Failed(error)) => self.rejection = Some(error),
                (_, cancelled) => return Err(cancelled),
            }
            self = match PreparingAtUpstream::after(self).prepare().await? {
                Prepared::Planned(planned) => *planned,
                Prepared::ByPriorAttempt(prior) => {
                    at.replay(prior, client).await?;
                    return Ok(Answered::ByPriorAttempt);
                }
            };
        }
    }

    /// Sends the request once and passes the answer on.
    async fn attempt(
        &self,
        session: &mut RetrySession<'_>,
        client: &mut Client,
    ) -> Result<Answer, Failed> {
        let reply = self.ask(session, client).await?;
        if self.opened.at.turn.request.is_queued() {
            return Ok(Answer::Queued(Queued::parse(reply)?));
        }
        let relayed = Relaying::new(self).relay(reply, client).await?;
        Ok(Answer::Relayed(Box::new(relayed)))
    }

    fn into_answered(self, answer: Answer) -> Answered<'a> {
        let Self { opened, preparation, report, .. } = self;
        let plan = preparation.into_plan().expect("the turn is planned");
        match answer {
            Answer::Relayed(relayed) => {
                let relayed = *relayed;
                Answered::Relayed(Box::new(RelayedAtUpstream { opened, plan, report, relayed }))
            }
            Answer::Queued(queued) => {
                Answered::Queued(Box::new(QueuedAtUpstream { opened, plan, report, queued }))
            }
        }
    }

    /// Records the pending turn and marks the ledger stale, and only then sends the request. If
    /// this process dies at any time before the commit, the next turn therefore resyncs the ledger.
    async fn ask(
        &self,
        session: &mut RetrySession<'_>,
        client: &mut Client,
    ) -> Result<Reply, TurnError> {
        let (opened, plan, report) = (&self.opened, self.plan(), &self.report);
        let recorded = opened.record_pending_turn(plan, report);
        let (recorded, stale) = tokio::join!(recorded, opened.mark_stale());
        if let Err(error) = recorded.and(stale) {
            opened.drop_pending_turn().await;
            return Err(error.into());
        }
        let sent = async { Ok::<_, ApiError>(self.send_repeatedly(session).await) };
        let sent = run_unless_cancelled(opened.at.turn, sent, &opened.place, client).await;
        match &sent {
            Ok(Ok(_)) => {}
            Ok(Err(error)) if may_have_begun(error) => opened.abandon(plan, report).await,
            Ok(Err(_)) | Err(TurnError::Failed(_)) => opened.drop_pending_turn().await,
            Err(TurnError::Cancelled(_)) => opened.abandon(plan, report).await,
        }
        let sent = sent.and_then(|sent| Ok(sent?));
        if let Err(TurnError::Failed(ApiError::Upstream(rejection))) = &sent
            && !depends_on_state(rejection.status.as_u16())
        {
            opened.mark_fresh().await;
        }
        sent
    }

    /// Sends the request, and repeats it only if the upstream has surely not started it. An
    /// upstream that owns state could otherwise store the input twice.
    async fn send_repeatedly(
        &self,
        session: &mut RetrySession<'_>,
    ) -> Result<Reply, UpstreamError> {
        let (turn, plan) = (self.opened.at.turn, self.plan());
        let (key, tenant) = (&turn.gateway.compaction_key, &turn.caller.tenant);
        let unsealed = |item: &Item| key.unseal_item(tenant, item).unwrap_or_else(|| item.clone());
        let sent: Vec<Item> = plan.sent.iter().map(unsealed).collect();
        let body = encode::encode_unchanged(turn.request, &sent, &plan.continue_from);
        loop {
            match session.send(body.clone(), turn.caller).await {
                Err(error) if has_not_begun(&error) && session.backoff(&error).await => {}
                answer => return answer,
            }
        }
    }
}

impl From<TurnError> for Failed {
    fn from(error: TurnError) -> Self {
        let fault = match &error {
            TurnError::Failed(ApiError::Upstream(rejection)) => {
                UpstreamError::Rejected(rejection.clone()).state_error()
            }
            TurnError::Failed(_) | TurnError::Cancelled(_) => None,
        };
        Self { error, fault }
    }
}

impl From<UpstreamError> for Failed {
    fn from(error: UpstreamError) -> Self {
        let fault = error.state_error();
        Self { error: error.into(), fault }
    }
}

/// Whether the same request may be sent again, because it has surely not started. 503 is not such
/// an error: proxies use it for connections that were reset after the request began.
fn has_not_begun(error: &UpstreamError) -> bool {
    match error {
        UpstreamError::Unreachable(_) => true,
        UpstreamError::Rejected(rejection) => rejection.status == StatusCode::TOO_MANY_REQUESTS,
        _ => false,
    }
}

/// Whether the upstream may have stored the turn although no answer arrived.
fn may_have_begun(error: &UpstreamError) -> bool {
    match error {
        UpstreamError::Rejected(rejection) => {
            rejection.status.is_server_error() && !has_not_begun(error)
        }
        UpstreamError::Unreachable(_) | UpstreamError::Busy | UpstreamError::TooLong(_) => false,
        UpstreamError::FirstByteTimeout(_)
        | UpstreamError::IdleTimeout(_)
        | UpstreamError::TotalTimeout(_)
        | UpstreamError::BrokeOff
        | UpstreamError::UnexpectedAnswer(_)
        | UpstreamError::TooLarge(_)
        | UpstreamError::Failed(_) => true,
    }
}

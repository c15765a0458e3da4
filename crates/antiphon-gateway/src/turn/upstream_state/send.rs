//! Sends the request of a planned turn. If the upstream's state differs from the ledger, sends it
//! once more after a resync.

use std::pin::pin;

use antiphon::Item;
use antiphon::provider_api::depends_on_state;
use antiphon::stateful::Action;
use http::StatusCode;
use tokio::time::Instant;

use super::prepare::{PlannedAtUpstream, Prepared, PreparingAtUpstream};
use super::queued::Queued;
use super::relay::{Relayed, Relaying};
use crate::error::ApiError;
use crate::span::{ErrorType as _, Stage};
use crate::turn::Client;
use crate::turn::cancel::{TurnError, run_unless_cancelled};
use crate::turn::encode;
use crate::upstream::{LockWait, Reply, RetrySession, StateError, Upstream, UpstreamError};

/// The answer to a turn.
pub(super) enum Answer {
    /// One that was passed on to the client.
    Relayed(Box<Relayed>),
    /// A response in the upstream's own background.
    Queued(Queued),
}

/// The error of an attempt of which the client has received nothing.
pub(super) struct Failed {
    pub(super) error: TurnError,
    /// The mismatch with the upstream's state, if that is the cause.
    pub(super) fault: Option<StateError>,
}

impl PlannedAtUpstream<'_> {
    /// Sends the request and passes the answer on.
    ///
    /// If the upstream rejects the request because its state differs from the ledger
    /// ([`StateError`]), resyncs the ledger, plans again and retries once, unless
    /// [`Faults::Reject`](crate::settings::Faults::Reject) is set. If the retry fails too, returns
    /// its error. Returns `None` if the answer of an earlier attempt, which held the conversation's
    /// lock, was replayed.
    pub(super) async fn send(
        mut self,
        client: &mut Client,
    ) -> Result<Option<(Self, Answer)>, TurnError> {
        let at = self.opened.at;
        let mut session = RetrySession::new(Upstream::Http(at.http), &at.turn.request.model);
        let left = at.waits_until.saturating_duration_since(Instant::now());
        let mut lock = LockWait::within(left);
        loop {
            let failed = match self.attempt(&mut session, client).await {
                Ok(answer) => {
                    self.report.set_retries(session.retries());
                    let chat = session.into_chat();
                    chat.stop();
                    self.chat = chat;
                    return Ok(Some((self, answer)));
                }
                Err(failed) => failed,
            };
            self.preparation.reject(failed.fault);
            match (self.preparation.action(), failed.error) {
                // Another client has locked the conversation, or a turn of this gateway that was
                // abandoned still runs there.
                (Action::Wait, error) => {
                    let waited = async { Ok::<_, ApiError>(lock.wait().await) };
                    if !run_unless_cancelled(at.turn, pin!(waited), &self.opened.place, client)
                        .await?
                    {
                        session.chat().fail(&error.error_type());
                        return Err(error);
                    }
                    self.preparation.resume();
                }
                (_, TurnError::Failed(error)) => self.rejection = Some(error),
                (_, cancelled) => {
                    session.chat().fail(&cancelled.error_type());
                    return Err(cancelled);
                }
            }
            let prepared = PreparingAtUpstream::after(self).prepare().await;
            let prepared =
                prepared.inspect_err(|error| session.chat().fail(&error.error_type()))?;
            self = match prepared {
                Prepared::Planned(planned) => *planned,
                Prepared::ByPriorAttempt(prior) => {
                    at.replay(prior, client).await?;
                    return Ok(None);
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
        let turn = self.opened.at.turn;
        let stage = turn.stage(Stage::Send);
        session.begin_chat(&turn.trace, turn.request, &self.plan().sent);
        let reply = stage.close(self.ask(session, client).await)?;
        let _stage = turn.stage(Stage::Stream);
        if self.opened.at.turn.request.is_queued() {
            return Ok(Answer::Queued(Queued::parse(reply)?));
        }
        let relayed = Relaying::new(self).relay(reply, session.chat(), client).await?;
        Ok(Answer::Relayed(Box::new(relayed)))
    }

    /// Records the pending turn and marks the ledger stale, and only then sends the request. If
    /// this process dies at any time before the commit, the next turn therefore resyncs the ledger.
    async fn ask(
        &self,
        session: &mut RetrySession<'_>,
        client: &mut Client,
    ) -> Result<Reply, TurnError> {
        let opened = &self.opened;
        let (recorded, stale) = tokio::join!(self.record_pending_turn(), opened.mark_stale());
        if let Err(error) = recorded.and(stale) {
            opened.drop_pending_turn().await;
            return Err(error.into());
        }
        let sent = async { Ok::<_, ApiError>(self.send_repeatedly(session).await) };
        let sent = run_unless_cancelled(opened.at.turn, pin!(sent), &opened.place, client).await;
        match &sent {
            Ok(Ok(_)) => {}
            Ok(Err(error)) if may_have_begun(error) => self.abandon().await,
            Ok(Err(_)) | Err(TurnError::Failed(_)) => opened.drop_pending_turn().await,
            Err(TurnError::Cancelled(_)) => self.abandon().await,
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
        turn.clock.mark_asked();
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

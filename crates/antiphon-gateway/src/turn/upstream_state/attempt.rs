//! Sends a turn. If the upstream's state differs from the ledger, sends it once more after a
//! resync.

use tokio::time::Instant;

use super::UpstreamTurn;
use super::open::after;
use super::plan::Plan;
use super::prior_attempt::PriorOutcome;
use super::queued::Queued;
use super::relay::Answered;
use super::replay::Footing;
use crate::error::ApiError;
use crate::request::Continues;
use crate::turn::Client;
use crate::turn::error::{CancelReason, TurnError};
use crate::turn::open::Opened;
use crate::upstream::{LockWait, RetrySession, StateError, UpstreamError};
use antiphon::provider_api::RefusedItems;

/// An open turn and its plan.
pub(super) struct Planned {
    pub(super) opened: Opened,
    pub(super) plan: Plan,
    pub(super) basis: Basis,
}

/// The inputs of a plan besides the ledger.
#[derive(Clone, Default)]
pub(super) struct Basis {
    /// Items that the upstream rejected although its own listing gives no reason.
    pub(super) objections: RefusedItems,
    /// The point in the upstream's state that the request continues.
    pub(super) footing: Footing,
    /// The input items that an earlier attempt at the request left at the upstream: position in the
    /// input, position in the transcript.
    pub(super) brought: Vec<(usize, usize)>,
}

/// The result of an attempt.
pub(super) enum Answer {
    /// An answer that was passed on to the client.
    OutgoingEvent(Box<Answered>),
    /// A response in the upstream's own background.
    Queued(Queued),
}

/// The error of an attempt of which the client has received nothing.
pub(super) struct Failed {
    pub(super) error: ApiError,
    /// The mismatch with the upstream's state, if that is the cause.
    pub(super) fault: Option<StateError>,
}

/// The result of an attempt; `None` if nobody waits for the answer any more.
type Attempted = Result<Option<Answer>, Failed>;

impl UpstreamTurn<'_> {
    /// Sends the request and returns the answer; `None` if nobody waits for it any more.
    ///
    /// If the upstream rejects the request because its state differs from the ledger
    /// ([`StateError`]), resyncs the ledger, plans again and retries once, unless
    /// [`Faults::Reject`](crate::settings::Faults::Reject) is set. If the retry fails too, returns
    /// its error. If there is no different request to send, returns the first error.
    pub(super) async fn answered(
        &self,
        planned: Planned,
        asking: &mut RetrySession<'_>,
        client: &mut Client,
    ) -> Result<Option<(Planned, Answer)>, ApiError> {
        let attempted = self.attempt_behind_others(planned, asking, client).await?;
        let Some((planned, attempted)) = attempted else { return Ok(None) };
        let failed = match attempted {
            Ok(answer) => return Ok(answer.map(|answer| (planned, answer))),
            Err(failed) => failed,
        };
        let Some(fault) = failed.fault.filter(|_| self.turn.mends()) else {
            return Err(failed.error);
        };
        let Some(planned) = self.otherwise(planned, &fault, &failed.error).await? else {
            return Err(failed.error);
        };
        let attempted = self.attempt_behind_others(planned, asking, client).await?;
        let Some((planned, attempted)) = attempted else { return Ok(None) };
        match attempted {
            Ok(answer) => Ok(answer.map(|answer| (planned, answer))),
            Err(again) => Err(again.error),
        }
    }

    /// Repeats the attempt while the conversation is locked at the upstream: by another client, or
    /// by a turn of this gateway that was abandoned and still runs there. Each repetition first
    /// resyncs the ledger.
    ///
    /// Returns `None` if nobody waits for the answer any more. Also returns `None` if the turn that
    /// held the lock was an earlier attempt at this request and completed: its answer is then
    /// replayed.
    async fn attempt_behind_others(
        &self,
        mut planned: Planned,
        asking: &mut RetrySession<'_>,
        client: &mut Client,
    ) -> Result<Option<(Planned, Attempted)>, ApiError> {
        let left = self.waits_until.saturating_duration_since(Instant::now());
        let mut lock = LockWait::within(left);
        loop {
            let attempted = self.attempt(&planned, asking, client).await;
            if !attempted.as_ref().is_err_and(Failed::is_of_a_lock) {
                return Ok(Some((planned, attempted)));
            }
            let unwanted = tokio::select! {
                waited = lock.wait() => match waited {
                    true => None,
                    false => return Ok(Some((planned, attempted))),
                },
                unwanted = self.turn.unwanted(&planned.opened, client) => Some(unwanted),
            };
            match unwanted {
                None => {}
                Some(CancelReason::ConversationDeleted) => {
                    return Err(ApiError::ConversationDeleted);
                }
                Some(CancelReason::Left | CancelReason::Cancelled) => return Ok(None),
            }
            let Planned { opened, basis, .. } = planned;
            let opened = self.reopened_as_learnt(opened).await?;
            let made = self.find_prior_attempt(&opened).await?;
            let Some(brought) = self.told_again(made, client).await? else { return Ok(None) };
            planned = self.planned(opened, basis.learnt_anew(brought)).await?;
        }
    }

    /// Sends the request once and relays the answer.
    async fn attempt(
        &self,
        planned: &Planned,
        asking: &mut RetrySession<'_>,
        client: &mut Client,
    ) -> Attempted {
        let Planned { opened, plan, .. } = planned;
        let _guard = self.turn.guard_opening(opened);
        let reply = match self.ask(opened, plan, asking, client).await {
            Ok(reply) => reply,
            Err(TurnError::Failed(error)) => return Err(error.into()),
            Err(TurnError::Cancelled(_)) => {
                self.leave(opened, plan).await;
                return Ok(None);
            }
        };
        if self.turn.request.is_queued() {
            return Ok(Some(Answer::Queued(Queued::of(reply)?)));
        }
        let hearing = self.hearing(opened, plan);
        let answered = self.relay(reply, hearing, opened, plan, client).await?;
        Ok(Some(Answer::OutgoingEvent(Box::new(answered))))
    }

    /// Plans the turn again after a state error; `None` if there is no other way to send it.
    async fn otherwise(
        &self,
        refused: Planned,
        fault: &StateError,
        error: &ApiError,
    ) -> Result<Option<Planned>, ApiError> {
        let Planned { opened, plan: before, basis } = refused;
        let found = match fault {
            StateError::Locked => None,
            StateError::UnknownResponse => self.replaying(opened, basis).await?,
            _ if basis.footing == Footing::Nothing => Some((opened, basis)),
            _ => self.learnt_if_told(opened, basis).await?,
        };
        let Some((opened, basis)) = found else { return Ok(None) };
        let basis = Basis { objections: RefusedItems::from_error(fault), ..basis };
        let mut planned = self.planned(opened, basis).await?;
        planned.plan.report.relearned(fault.name(), &error.as_failure().message);
        let is_other = planned.plan.differs_from(&before) && !planned.plan.is_emptied();
        Ok(is_other.then_some(planned))
    }

    /// Plans to replay the full content of the previous response, if the ledger has all of it.
    async fn replaying(
        &self,
        opened: Opened,
        basis: Basis,
    ) -> Result<Option<(Opened, Basis)>, ApiError> {
        let is_here = self.replays(&opened).await?;
        Ok(is_here.then_some((opened, Basis { footing: Footing::Nothing, ..basis })))
    }

    /// Resyncs the ledger for a second attempt; `None` if the upstream does not list its items.
    async fn learnt_if_told(
        &self,
        opened: Opened,
        basis: Basis,
    ) -> Result<Option<(Opened, Basis)>, ApiError> {
        match self.reopened_as_learnt(opened).await {
            Ok(opened) => self.with_what_was_brought(opened, basis).await.map(Some),
            Err(error) => {
                let reason = error.to_string();
                tracing::warn!(
                    reason,
                    "an upstream that refused a turn does not say what it holds"
                );
                Ok(None)
            }
        }
    }

    /// Resyncs the ledger and reopens the turn.
    pub(super) async fn learnt_anew(
        &self,
        opened: Opened,
        basis: Basis,
    ) -> Result<(Opened, Basis), ApiError> {
        let opened = self.reopened_as_learnt(opened).await?;
        self.with_what_was_brought(opened, basis).await
    }

    /// Adds the input that an earlier attempt may have left at the upstream since. If that attempt
    /// has just completed, fails so that the client's next retry receives its answer.
    async fn with_what_was_brought(
        &self,
        opened: Opened,
        basis: Basis,
    ) -> Result<(Opened, Basis), ApiError> {
        let brought = match self.find_prior_attempt(&opened).await? {
            PriorOutcome::Whole(_) | PriorOutcome::Queued(_) => {
                return Err(ApiError::RequestInProgress);
            }
            PriorOutcome::Begun(brought) => brought,
            PriorOutcome::Never => Vec::new(),
        };
        Ok((opened, basis.learnt_anew(brought)))
    }

    /// Resyncs the ledger and reopens the turn at its end.
    async fn reopened_as_learnt(&self, opened: Opened) -> Result<Opened, ApiError> {
        match &self.turn.request.continues {
            Continues::Nothing => Ok(opened),
            Continues::Conversation(id) => {
                self.learn_conversation(id, &opened).await?;
                self.turn.reopened(opened).await
            }
            Continues::Response(id) => {
                let record = self.learn_response(id, opened.cursor).await?;
                opened.close().await;
                let (shard, cursor) = (record.cursor.shard, record.cursor);
                self.turn.opened(shard, Some(cursor), after(&record), None).await
            }
        }
    }
}

impl Basis {
    /// Adjusts the inputs of the plan after a resync.
    fn learnt_anew(self, brought: Vec<(usize, usize)>) -> Self {
        let footing = match self.footing {
            Footing::Around(_) => Footing::AsAsked,
            footing => footing,
        };
        Self { footing, brought, ..self }
    }
}

impl Failed {
    /// Whether another turn holds the conversation's lock at the upstream.
    fn is_of_a_lock(&self) -> bool {
        self.fault == Some(StateError::Locked)
    }
}

impl From<ApiError> for Failed {
    fn from(error: ApiError) -> Self {
        let fault = match &error {
            ApiError::Upstream(refused) => UpstreamError::Refused(refused.clone()).state_error(),
            _ => None,
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

//! Sends a turn. If the upstream's state differs from the ledger, sends it once more after a
//! resync.

use antiphon::provider_api::RefusedItems;
use antiphon::stateful::Recovery;
use tokio::time::Instant;

use super::UpstreamTurn;
use super::plan::{ContinueFrom, PlanInputs};
use super::prepare::{Planned, Progress};
use super::prior_attempt::PriorOutcome;
use super::queued::Queued;
use super::relay::Answered;
use crate::error::ApiError;
use crate::request::Continues;
use crate::turn::Client;
use crate::turn::cancel::{CancelReason, TurnError, cancelled};
use crate::turn::open::Opened;
use crate::turn::pending::PendingTurn;
use crate::upstream::{LockWait, Reply, RetrySession, StateError, UpstreamError};

/// The result of an attempt.
pub(super) enum Answer {
    /// An answer that was passed on to the client.
    Relayed(Box<Answered>),
    /// A response in the upstream's own background.
    Queued(Queued),
}

/// The error of an attempt of which the client has received nothing.
pub(super) struct Failed {
    pub(super) error: ApiError,
    /// The mismatch with the upstream's state, if that is the cause.
    pub(super) fault: Option<StateError>,
}

impl UpstreamTurn<'_> {
    /// Sends the request and returns the answer; `None` if an earlier attempt at this request held
    /// the conversation's lock and completed: its answer was replayed.
    ///
    /// If the upstream rejects the request because its state differs from the ledger
    /// ([`StateError`]), resyncs the ledger, plans again and retries once, unless
    /// [`Faults::Reject`](crate::settings::Faults::Reject) is set. If the retry fails too, returns
    /// its error.
    pub(super) async fn answer(
        &self,
        progress: &mut Progress,
        mut planned: Planned,
        asking: &mut RetrySession<'_>,
        client: &mut Client,
    ) -> Result<Option<(Planned, Answer)>, TurnError> {
        let left = self.waits_until.saturating_duration_since(Instant::now());
        let mut lock = LockWait::within(left);
        loop {
            let failed = match self.attempt(&planned, asking, client).await? {
                Ok(answer) => return Ok(Some((planned, answer))),
                Err(failed) => failed,
            };
            let repairs = self.turn.repairs();
            let is_recoverable = |fault: &StateError| repairs || *fault == StateError::Locked;
            let fault = failed.fault.clone().filter(is_recoverable);
            planned = match progress.course.reject(fault) {
                Recovery::GiveUp => return Err(failed.error.into()),
                Recovery::Wait => {
                    if !self.wait_for_lock(&mut lock, &planned.opened, client).await? {
                        return Err(failed.error.into());
                    }
                    match self.prepare_after_lock(progress, planned, client).await? {
                        Some(planned) => planned,
                        None => return Ok(None),
                    }
                }
                recovery => self.recover(progress, planned, failed, recovery).await?,
            };
        }
    }

    /// Sends the request once and relays the answer. The inner error is that of an answer of which
    /// the client has received nothing.
    async fn attempt(
        &self,
        planned: &Planned,
        asking: &mut RetrySession<'_>,
        client: &mut Client,
    ) -> Result<Result<Answer, Failed>, TurnError> {
        let Planned { opened, plan, .. } = planned;
        let _guard = PendingTurn::new(self.turn, opened);
        let reply = match self.ask(opened, plan, asking, client).await {
            Ok(reply) => reply,
            Err(TurnError::Failed(error)) => return Ok(Err(error.into())),
            Err(cancelled) => {
                self.abandon(opened, plan).await;
                return Err(cancelled);
            }
        };
        Ok(self.receive(reply, planned, client).await)
    }

    async fn receive(
        &self,
        reply: Reply,
        Planned { opened, plan, .. }: &Planned,
        client: &mut Client,
    ) -> Result<Answer, Failed> {
        if self.turn.request.is_queued() {
            return Ok(Answer::Queued(Queued::parse(reply)?));
        }
        let reader = self.reader(opened, plan);
        let answered = self.relay(reply, reader, opened, plan, client).await?;
        Ok(Answer::Relayed(Box::new(answered)))
    }

    /// Waits while the conversation is locked at the upstream: by another client, or by a turn of
    /// this gateway that was abandoned and still runs there. Returns `false` if the time is over.
    async fn wait_for_lock(
        &self,
        lock: &mut LockWait,
        opened: &Opened,
        client: &mut Client,
    ) -> Result<bool, TurnError> {
        tokio::select! {
            waited = lock.wait() => Ok(waited),
            reason = cancelled(self.turn, opened, client) => Err(match reason {
                CancelReason::ConversationDeleted => ApiError::ConversationDeleted.into(),
                reason => TurnError::Cancelled(reason),
            }),
        }
    }

    /// Plans the turn again after another turn of the conversation. `None` if that turn was an
    /// earlier attempt at this request and completed.
    async fn prepare_after_lock(
        &self,
        progress: &mut Progress,
        planned: Planned,
        client: &mut Client,
    ) -> Result<Option<Planned>, ApiError> {
        let opened = self.resync_opened(planned.opened).await?;
        let prior = self.find_prior_attempt(&opened).await?;
        let Some(stored) = self.replay_prior(prior, client).await? else { return Ok(None) };
        progress.course.restart();
        progress.course.record_sync();
        let inputs = planned.inputs.after_resync(stored);
        self.prepare(progress, opened, inputs).await.map(Some)
    }

    /// Plans the turn again after a state error. The error stands if there is no other way to send
    /// the turn.
    async fn recover(
        &self,
        progress: &mut Progress,
        planned: Planned,
        failed: Failed,
        recovery: Recovery,
    ) -> Result<Planned, ApiError> {
        let Planned { opened, plan, inputs } = planned;
        let Failed { error, fault } = failed;
        let (opened, inputs) = match recovery {
            Recovery::Sync | Recovery::Plan if inputs.continue_from == ContinueFrom::Nothing => {
                (opened, inputs)
            }
            Recovery::Sync | Recovery::Plan => match self.resync_opened(opened).await {
                Ok(opened) => self.find_stored_input(opened, inputs).await?,
                Err(unlisted) => {
                    let reason = unlisted.to_string();
                    tracing::warn!(
                        reason,
                        "could not list the items of an upstream that rejected a turn; the client \
                         receives the rejection"
                    );
                    return Err(error);
                }
            },
            Recovery::Replay if self.can_replay(&opened).await? => {
                (opened, PlanInputs { continue_from: ContinueFrom::Nothing, ..inputs })
            }
            Recovery::Replay | Recovery::Wait | Recovery::GiveUp => return Err(error),
        };
        let refused = fault.as_ref().map(RefusedItems::from_error).unwrap_or_default();
        progress.rejected = Some(plan.request());
        progress.error = Some(error);
        self.prepare(progress, opened, PlanInputs { refused, ..inputs }).await
    }

    /// Resyncs the ledger and reopens the turn.
    pub(super) async fn resync(
        &self,
        opened: Opened,
        inputs: PlanInputs,
    ) -> Result<(Opened, PlanInputs), ApiError> {
        let opened = self.resync_opened(opened).await?;
        self.find_stored_input(opened, inputs).await
    }

    /// Finds the input that an earlier attempt may have left at the upstream since. If that attempt
    /// has just completed, fails so that the client's next retry receives its answer.
    async fn find_stored_input(
        &self,
        opened: Opened,
        inputs: PlanInputs,
    ) -> Result<(Opened, PlanInputs), ApiError> {
        let stored = match self.find_prior_attempt(&opened).await? {
            PriorOutcome::Whole(_) | PriorOutcome::Queued(_) => {
                return Err(ApiError::RequestInProgress);
            }
            PriorOutcome::Begun(stored) => stored,
            PriorOutcome::Never => Vec::new(),
        };
        Ok((opened, inputs.after_resync(stored)))
    }

    /// Resyncs the ledger and reopens the turn at its end.
    async fn resync_opened(&self, opened: Opened) -> Result<Opened, ApiError> {
        match &self.turn.request.continues {
            Continues::Nothing => Ok(opened),
            Continues::Conversation(id) => {
                self.resync_conversation(id, &opened).await?;
                opened.at_current_end(self.turn).await
            }
            Continues::Response(id) => {
                let record = self.resync_response(id, opened.cursor).await?;
                opened.close().await;
                self.open_at(&record).await
            }
        }
    }
}

impl From<ApiError> for Failed {
    fn from(error: ApiError) -> Self {
        let fault = match &error {
            ApiError::Upstream(rejection) => {
                UpstreamError::Rejected(rejection.clone()).state_error()
            }
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

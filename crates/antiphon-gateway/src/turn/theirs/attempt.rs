//! Sending a turn, and sending it once more where the upstream holds something else than was known.

use tokio::time::Instant;

use super::Theirs;
use super::again::Made;
use super::open::after;
use super::plan::Plan;
use super::queued::Queued;
use super::relay::Answered;
use super::replay::Footing;
use crate::error::ApiError;
use crate::request::Continues;
use crate::turn::Client;
use crate::turn::open::Opened;
use crate::turn::relay::Unwanted;
use crate::turn::retry::still_answered;
use crate::upstream::{Asking, LockWait, StateError, UpstreamError};
use antiphon::kept::Objections;

/// A turn that is open, and what is to be sent.
pub(super) struct Planned {
    pub(super) opened: Opened,
    pub(super) plan: Plan,
    pub(super) basis: Basis,
}

/// What a plan rests on beside the ledger.
#[derive(Clone, Default)]
pub(super) struct Basis {
    /// What the upstream refused that what it lists does not explain.
    pub(super) objections: Objections,
    /// What the request stands on at the upstream.
    pub(super) footing: Footing,
    /// What of the input an earlier attempt of the same request brought there: for each such position
    /// where it is held.
    pub(super) brought: Vec<(usize, usize)>,
}

/// What an attempt came to.
pub(super) enum Answer {
    /// An answer, of which its caller was told as it came.
    Told(Box<Answered>),
    /// A response in the upstream's own background.
    Queued(Queued),
}

/// Why an attempt came to nothing that its caller was told of.
pub(super) struct Failed {
    pub(super) error: ApiError,
    /// What does not fit what the upstream holds, where that is why.
    pub(super) fault: Option<StateError>,
}

/// What came of an attempt: an answer, or nothing where nobody wants one any more.
type Attempted = Result<Option<Answer>, Failed>;

impl Theirs<'_> {
    /// The answer, or nothing where nobody wants it any more. What the upstream refuses because of what
    /// it holds is sent once more, otherwise: it is asked what it has, and what is sent follows from
    /// that. Where nothing would be sent otherwise, or that is refused too, the upstream's error is the
    /// caller's.
    pub(super) async fn answered(
        &self,
        planned: Planned,
        asking: &mut Asking<'_>,
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

    /// The attempt, made again while the upstream has a turn of others open in the conversation, or one
    /// of this gateway's that was left and has not ended there. What that leaves is learnt each time.
    /// `None` where nobody wants the answer any more, or that turn was this one, made before, and came to
    /// a whole answer, which was given.
    async fn attempt_behind_others(
        &self,
        mut planned: Planned,
        asking: &mut Asking<'_>,
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
                Some(Unwanted::ConversationDeleted) => return Err(ApiError::conversation_deleted()),
                Some(Unwanted::Left | Unwanted::Cancelled) => return Ok(None),
            }
            let Planned { opened, basis, .. } = planned;
            let opened = self.reopened_as_learnt(opened).await?;
            let made = self.made_before(&opened).await?;
            let Some(brought) = self.told_again(made, client).await? else { return Ok(None) };
            planned = self.planned(opened, basis.learnt_anew(brought)).await?;
        }
    }

    async fn attempt(
        &self,
        planned: &Planned,
        asking: &mut Asking<'_>,
        client: &mut Client,
    ) -> Attempted {
        let Planned { opened, plan, .. } = planned;
        let _guard = self.turn.guard_opening(opened);
        let reply = self.ask(opened, plan, asking, client).await?;
        let Ok(reply) = reply else {
            self.leave(opened, plan).await;
            return Ok(None);
        };
        if self.turn.request.is_queued() {
            return Ok(Some(Answer::Queued(Queued::of(reply)?)));
        }
        let hearing = self.hearing(opened, plan);
        let answered = self.relay(reply, hearing, opened, plan, client).await?;
        Ok(Some(Answer::Told(Box::new(answered))))
    }

    /// The same turn as it is to be sent in the place of what was refused; `None` where there is no
    /// other way to send it.
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
        let basis = Basis { objections: Objections::to(fault), ..basis };
        let mut planned = self.planned(opened, basis).await?;
        planned.plan.report.relearned(fault.name(), &error.as_failure().message);
        let is_other = planned.plan.differs_from(&before) && !planned.plan.is_emptied();
        Ok(is_other.then_some(planned))
    }

    /// The same turn with all that the response stood for that it goes on from, if the ledger has that.
    async fn replaying(
        &self,
        opened: Opened,
        basis: Basis,
    ) -> Result<Option<(Opened, Basis)>, ApiError> {
        let is_here = self.replays(&opened).await?;
        Ok(is_here.then_some((opened, Basis { footing: Footing::Nothing, ..basis })))
    }

    /// The same turn behind what the upstream says that it holds; `None` where it does not say.
    async fn learnt_if_told(
        &self,
        opened: Opened,
        basis: Basis,
    ) -> Result<Option<(Opened, Basis)>, ApiError> {
        match self.reopened_as_learnt(opened).await {
            Ok(opened) => self.with_what_was_brought(opened, basis).await.map(Some),
            Err(error) => {
                let reason = error.message();
                tracing::warn!(
                    reason,
                    "an upstream that refused a turn does not say what it holds"
                );
                Ok(None)
            }
        }
    }

    /// The same turn behind what the upstream says that it holds.
    pub(super) async fn learnt_anew(
        &self,
        opened: Opened,
        basis: Basis,
    ) -> Result<(Opened, Basis), ApiError> {
        let opened = self.reopened_as_learnt(opened).await?;
        self.with_what_was_brought(opened, basis).await
    }

    /// The same turn, where an earlier attempt of the request may have got further meanwhile. One that
    /// has just come to a whole answer is that of the next attempt.
    async fn with_what_was_brought(
        &self,
        opened: Opened,
        basis: Basis,
    ) -> Result<(Opened, Basis), ApiError> {
        let brought = match self.made_before(&opened).await? {
            Made::Whole(_) | Made::Queued(_) => return Err(still_answered()),
            Made::Begun(brought) => brought,
            Made::Never => Vec::new(),
        };
        Ok((opened, basis.learnt_anew(brought)))
    }

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
    /// The same where the upstream was asked again what it holds, some of it brought by an earlier
    /// attempt.
    fn learnt_anew(self, brought: Vec<(usize, usize)>) -> Self {
        let footing = match self.footing {
            Footing::Around(_) => Footing::AsAsked,
            footing => footing,
        };
        Self { footing, brought, ..self }
    }
}

impl Failed {
    /// Whether another turn of the conversation is open at the upstream.
    fn is_of_a_lock(&self) -> bool {
        self.fault == Some(StateError::Locked)
    }
}

impl From<ApiError> for Failed {
    fn from(error: ApiError) -> Self {
        let fault = match &error {
            ApiError::Upstream(refused) => UpstreamError::Refused(refused.clone()).state_error(),
            ApiError::Ours(_) => None,
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

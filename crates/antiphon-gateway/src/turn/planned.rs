//! The second stage: a turn with a plan.

use super::client::Head;
use super::open::{Opened, OpenedTurn};
use super::plan::{Plan, Planner};
use super::prior_attempt::CutAttempts;
use crate::error::ApiError;

/// An open turn and its plan.
pub(super) struct PlannedTurn<'a> {
    pub(super) planner: Planner<'a>,
    pub(super) opened: Opened,
    pub(super) plan: Plan,
}

impl<'a> PlannedTurn<'a> {
    /// Loads the transcript, finds the new items of the input and builds the prompt. `cut` holds
    /// the attempts at the same request that were cut short.
    pub(super) async fn plan(opened: OpenedTurn<'a>, cut: &CutAttempts) -> Result<Self, ApiError> {
        let OpenedTurn { turn, upstream, opened } = opened;
        let planner = Planner::new(turn, upstream);
        let held = opened.load_transcript(turn).await?;
        let input = turn.resolve(&held, turn.request.input.clone()).await?;
        let mut plan = planner.plan(held, input, cut.prior.as_ref())?;
        plan.follows(cut);
        Ok(Self { planner, opened, plan })
    }

    /// Fails if the new items exceed a quota.
    pub(super) async fn check_quotas(&self) -> Result<(), ApiError> {
        let Plan { transcript, fresh, .. } = &self.plan;
        let items = transcript.items();
        let (held, _) = items.split_at(items.len() - fresh.len());
        self.opened.check_quotas(self.planner.turn, held, fresh).await
    }

    /// The headers of the answer.
    pub(super) fn head(&self) -> Head {
        self.plan.report.head(&self.opened.response_id)
    }
}

//! The third stage: a turn with a plan. Items of the upstream that block it are deleted or avoided.

use std::collections::HashSet;

use antiphon::provider_api::{Detour, DetourSearch, DetourStep};
use antiphon::stateful::{BlockingItems, Course, Decision, PlanSummary, Removal};
use antiphon::{HeldItem, ItemId};
use antiphon_store::{Destination, ThreadId};
use bytes::Bytes;

use super::open::OpenedAtUpstream;
use super::plan::{ContinueFrom, Plan, PlanInputs};
use super::prior_attempt::PriorOutcome;
use crate::entropy::RandomIds;
use crate::error::ApiError;
use crate::request::Continues;

/// An open turn and its plan.
pub(super) struct PlannedAtUpstream<'a> {
    pub(super) opened: OpenedAtUpstream<'a>,
    pub(super) plan: Plan,
    pub(super) inputs: PlanInputs,
    pub(super) progress: Progress,
}

/// The course of a turn, and its first rejection.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) course: Course,
    /// The upstream's error.
    pub(super) error: Option<ApiError>,
    /// The rejected request. It is absent after a deletion, because the upstream may then accept
    /// the same request.
    pub(super) rejected: Option<(ContinueFrom, Vec<Bytes>)>,
}

impl<'a> PlannedAtUpstream<'a> {
    /// Plans the turn, after deleting the items that block it, or on a detour around them.
    ///
    /// If the turn fails or the process dies after a deletion, the next turn finds the call without
    /// an output and repairs it.
    ///
    /// # Errors
    /// The first rejection of the turn, if there is no other request to send.
    pub(super) async fn plan(
        opened: OpenedAtUpstream<'a>,
        inputs: PlanInputs,
        progress: Progress,
    ) -> Result<Self, ApiError> {
        let plan = Plan::new(&opened, &inputs).await?;
        let mut planned = Self { opened, plan, inputs, progress };
        loop {
            match (planned.decide().await, &planned.progress.error) {
                (Decision::Sync, _) => planned = planned.plan_after_sync().await?,
                (Decision::Delete, _) => planned.delete_blocking().await?,
                (Decision::Detour, _) => planned.make_detour().await?,
                (Decision::GiveUp, Some(error)) => return Err(error.clone()),
                (Decision::Send | Decision::GiveUp, error) => {
                    if let (Some(fault), Some(error)) = (planned.progress.course.fault(), error) {
                        planned.plan.report.set_resynced(fault.name(), &error.as_failure().message);
                    }
                    return Ok(planned);
                }
            }
        }
    }

    /// Fails if the new items exceed a quota.
    pub(super) async fn check_quotas(&self) -> Result<(), ApiError> {
        let Self { opened, plan, .. } = self;
        let (held, _) = plan.transcript.items().split_at(plan.held);
        opened.place.check_quotas(opened.at.turn, held, &plan.fresh).await
    }

    async fn decide(&mut self) -> Decision {
        let is_new_request = self.progress.rejected.as_ref() != Some(&self.plan.request());
        let removal = match self.progress.course.may_clear() {
            true => self.removal().await,
            false => Removal::None,
        };
        self.progress.course.decide(PlanSummary {
            lacks_items: false,
            removal,
            is_new_request: is_new_request && !self.plan.is_emptied(),
        })
    }

    /// The way to remove the items that block this plan.
    async fn removal(&self) -> Removal {
        let (at, blocking) = (self.opened.at, &self.plan.blocking);
        let has_deletion = async || at.http.capabilities(at.turn.caller).await.item_deletion;
        match &at.turn.request.continues {
            _ if !at.turn.repairs() => Removal::None,
            Continues::Conversation(_) if !blocking.is_empty() && has_deletion().await => {
                Removal::Deletion { has_ids: blocking.have_server_ids() }
            }
            Continues::Response(_)
                if self.plan.continue_from == ContinueFrom::AsRequested
                    && blocking.is_unrepairable() =>
            {
                Removal::Detour
            }
            _ => Removal::None,
        }
    }

    async fn plan_after_sync(self) -> Result<Self, ApiError> {
        let Self { opened, inputs, mut progress, .. } = self;
        let (opened, inputs) = opened.resync_ledger().await?.find_stored_input(inputs).await?;
        progress.course.record_sync();
        let plan = Plan::new(&opened, &inputs).await?;
        Ok(Self { opened, plan, inputs, progress })
    }

    /// Deletes the items that block the plan, and plans again.
    async fn delete_blocking(&mut self) -> Result<(), ApiError> {
        self.opened.mark_stale().await?;
        let deleted = self.opened.delete(&self.plan.blocking).await?;
        if !deleted.is_empty() {
            self.plan = Plan::new(&self.opened, &self.inputs).await?;
            let deletions = deleted.report_deletions(&self.opened.at.turn.request.input);
            self.plan.report.add_repairs(deletions);
            self.progress.rejected = None;
        }
        Ok(())
    }

    /// Plans again on a detour around the items that block the plan, if there is one. Otherwise the
    /// turn continues the response itself, and the upstream decides.
    async fn make_detour(&mut self) -> Result<(), ApiError> {
        let Some(detour) = self.opened.find_detour(&self.plan.blocking).await? else {
            return Ok(());
        };
        self.inputs.continue_from = ContinueFrom::Detour(detour);
        let plan = Plan::new(&self.opened, &self.inputs).await?;
        let avoided = std::mem::replace(&mut self.plan, plan).blocking;
        self.plan.avoid(&avoided);
        // The turn does not continue the end of its response.
        let shard = self.opened.place.response_id.shard();
        self.opened.place.destination =
            Destination::New { shard, thread: ThreadId::issue(&mut RandomIds) };
        Ok(())
    }
}

impl OpenedAtUpstream<'_> {
    /// Finds the input that an earlier attempt may have left at the upstream before a resync. If
    /// that attempt has just completed, fails so that the client's next retry receives its answer.
    pub(super) async fn find_stored_input(
        self,
        inputs: PlanInputs,
    ) -> Result<(Self, PlanInputs), ApiError> {
        let stored = match self.find_prior_attempt().await? {
            PriorOutcome::Whole(_) | PriorOutcome::Queued(_) => {
                return Err(ApiError::RequestInProgress);
            }
            PriorOutcome::Begun(stored) => stored,
            PriorOutcome::Never => Vec::new(),
        };
        Ok((self, inputs.after_resync(stored)))
    }

    /// Deletes the items under the conversation's lease, each at the upstream and then in the
    /// ledger, and returns the deleted ones. Stops at the first item that the upstream does not
    /// delete: a late output is then sent as a message, and any other item is left for the upstream
    /// to reject.
    async fn delete(&self, blocking: &BlockingItems) -> Result<BlockingItems, ApiError> {
        let turn = self.at.turn;
        let (Continues::Conversation(id), Some(ledger)) =
            (&turn.request.continues, &self.place.conversation)
        else {
            return Ok(BlockingItems::default());
        };
        let mut deleted = HashSet::new();
        for item in blocking.ids() {
            if let Err(error) = self.at.provider().delete_item(id, item.as_str()).await {
                let item = item.as_str();
                tracing::warn!(
                    %error, item,
                    "the upstream did not delete an item that blocks a turn; the turn is sent \
                     nevertheless"
                );
                break;
            }
            turn.gateway.store.delete_item(&turn.caller.tenant, ledger, item).await?;
            deleted.insert(item.clone());
        }
        Ok(blocking.clone().only(&deleted))
    }

    /// Searches a detour around the blocking items of the previous response.
    async fn find_detour(&self, blocking: &BlockingItems) -> Result<Option<Detour>, ApiError> {
        let Continues::Response(id) = &self.at.turn.request.continues else { return Ok(None) };
        let search = DetourSearch::new(id, blocking.unrepairable_ids());
        let Some(mut search) = search.map(Box::new) else { return Ok(None) };
        let provider = self.at.provider();
        loop {
            let (status, body) = provider.get(&search.path()).await?;
            match search.take(status.as_u16(), &body) {
                DetourStep::Request(next) => search = next,
                DetourStep::Done(detour) => return Ok(detour),
            }
        }
    }
}

impl Plan {
    /// Adds all stored items except the avoided ones to the new items, because the turn starts a
    /// thread of its own.
    fn avoid(&mut self, blocking: &BlockingItems) {
        let avoided: HashSet<ItemId> = blocking.unrepairable_ids();
        let stored = self.transcript.items()[..self.held].iter();
        let kept: Vec<HeldItem> = stored.filter(|it| !avoided.contains(&it.id)).cloned().collect();
        self.fresh.splice(0..0, kept);
        self.report.add_repairs(blocking.report_detour());
    }
}

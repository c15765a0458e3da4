//! Prepares the request of a turn: deletes or avoids items of the upstream that block it.

use std::collections::HashSet;

use antiphon::provider_api::{Detour, DetourSearch, DetourStep};
use antiphon::stateful::{BlockingItems, Course, Decision, PlanSummary, Removal};
use antiphon::{HeldItem, ItemId};
use antiphon_store::{Destination, ThreadId};
use bytes::Bytes;

use super::UpstreamTurn;
use super::plan::{ContinueFrom, Plan, PlanInputs};
use crate::entropy::RandomIds;
use crate::error::ApiError;
use crate::request::Continues;
use crate::turn::open::Opened;

/// An open turn and its plan.
pub(super) struct Planned {
    pub(super) opened: Opened,
    pub(super) plan: Plan,
    pub(super) inputs: PlanInputs,
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

impl UpstreamTurn<'_> {
    /// Plans the turn, after deleting the items that block it, or on a detour around them.
    ///
    /// If the turn fails or the process dies after a deletion, the next turn finds the call without
    /// an output and repairs it.
    ///
    /// # Errors
    /// The first rejection of the turn, if there is no other request to send.
    pub(super) async fn prepare(
        &self,
        progress: &mut Progress,
        mut opened: Opened,
        mut inputs: PlanInputs,
    ) -> Result<Planned, ApiError> {
        let mut plan = self.plan(&opened, &inputs).await?;
        loop {
            let is_new_request =
                progress.rejected.as_ref() != Some(&plan.request()) && !plan.is_emptied();
            let removal = match progress.course.may_clear() {
                true => self.removal(&plan).await,
                false => Removal::None,
            };
            let summary = PlanSummary { lacks_items: false, removal, is_new_request };
            match (progress.course.decide(summary), &progress.error) {
                (Decision::Sync, _) => {
                    (opened, inputs) = self.resync(opened, inputs).await?;
                    progress.course.record_sync();
                    plan = self.plan(&opened, &inputs).await?;
                }
                (Decision::Delete, _) => {
                    self.mark_stale(&opened).await?;
                    let deleted = self.delete(&opened, &plan.blocking).await?;
                    if !deleted.is_empty() {
                        plan = self.plan(&opened, &inputs).await?;
                        let deletions = deleted.report_deletions(&self.turn.request.input);
                        plan.report.add_repairs(deletions);
                        progress.rejected = None;
                    }
                }
                (Decision::Detour, _) => {
                    if let Some(detour) = self.find_detour(&plan.blocking).await? {
                        inputs.continue_from = ContinueFrom::Detour(detour);
                        let avoided = plan.blocking;
                        plan = self.plan(&opened, &inputs).await?;
                        plan.avoid(&avoided);
                        opened.destination = new_thread(&opened);
                    }
                }
                (Decision::GiveUp, Some(error)) => return Err(error.clone()),
                (Decision::Send | Decision::GiveUp, error) => {
                    if let (Some(fault), Some(error)) = (progress.course.fault(), error) {
                        plan.report.relearned(fault.name(), &error.as_failure().message);
                    }
                    return Ok(Planned { opened, plan, inputs });
                }
            }
        }
    }

    /// The way to remove the items that block this plan.
    async fn removal(&self, plan: &Plan) -> Removal {
        let has_deletion = async || self.http.capabilities(self.turn.caller).await.item_deletion;
        match &self.turn.request.continues {
            _ if !self.turn.repairs() => Removal::None,
            Continues::Conversation(_) if !plan.blocking.is_empty() && has_deletion().await => {
                Removal::Deletion { has_ids: plan.blocking.have_server_ids() }
            }
            Continues::Response(_)
                if plan.continue_from == ContinueFrom::AsRequested
                    && plan.blocking.is_unrepairable() =>
            {
                Removal::Detour
            }
            _ => Removal::None,
        }
    }

    /// Deletes the items under the conversation's lease, each at the upstream and then in the
    /// ledger, and returns the deleted ones. Stops at the first item that the upstream does not
    /// delete: a late output is then sent as a message, and any other item is left for the upstream
    /// to reject.
    async fn delete(
        &self,
        opened: &Opened,
        blocking: &BlockingItems,
    ) -> Result<BlockingItems, ApiError> {
        let (Continues::Conversation(id), Some(ledger)) =
            (&self.turn.request.continues, &opened.conversation)
        else {
            return Ok(BlockingItems::default());
        };
        let mut deleted = HashSet::new();
        for item in blocking.ids() {
            if let Err(error) = self.provider().delete_item(id, item.as_str()).await {
                let item = item.as_str();
                tracing::warn!(
                    %error, item,
                    "the upstream did not delete an item that blocks a turn; the turn is sent \
                     nevertheless"
                );
                break;
            }
            let store = &self.turn.gateway.store;
            store.delete_item(&self.turn.caller.tenant, ledger, item).await?;
            deleted.insert(item.clone());
        }
        Ok(blocking.clone().only(&deleted))
    }

    /// Searches a detour around the blocking items of the previous response. Without one, the turn
    /// continues the response itself, and the upstream decides.
    async fn find_detour(&self, blocking: &BlockingItems) -> Result<Option<Detour>, ApiError> {
        let Continues::Response(id) = &self.turn.request.continues else { return Ok(None) };
        let search = DetourSearch::new(id, blocking.unrepairable_ids());
        let Some(mut search) = search.map(Box::new) else { return Ok(None) };
        let provider = self.provider();
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

/// A new thread, for a turn that does not continue the end of its response.
fn new_thread(opened: &Opened) -> Destination {
    let shard = opened.response_id.shard();
    Destination::New { shard, thread: ThreadId::issue(&mut RandomIds) }
}

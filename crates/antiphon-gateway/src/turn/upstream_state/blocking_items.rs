//! Deletes items at the upstream: those that block the next turn, and placeholder outputs whose
//! real outputs have arrived.

use std::collections::HashSet;

use antiphon::placeholder::LateOutput;
use antiphon::repair::{BlockingItem, blocking_items};
use antiphon::{HeldItem, Item, ItemId};

use super::UpstreamTurn;
use super::attempt::{Basis, Planned};
use super::plan::{Outlines, Plan};
use crate::error::ApiError;
use crate::request::Continues;
use crate::turn::admission::Admission;
use crate::turn::open::Opened;

/// Items of a conversation that should be deleted before its next turn.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockingItems {
    /// Items that no request can repair, each with the name of the fault that the upstream reports.
    blocking_items: Vec<(HeldItem, &'static str)>,
    /// Placeholder outputs of calls whose real outputs arrived: the placeholder, and the position
    /// and item of the real output in the input.
    late: Vec<(HeldItem, usize, Item)>,
    /// Whether an item was deleted for this plan.
    deleted: bool,
}

impl BlockingItems {
    /// The items that block this input.
    pub(super) fn in_the_way_of(admission: &Admission, outlines: &Outlines) -> Self {
        let held = |position: usize| admission.transcript.items()[position].clone();
        let found =
            |found: BlockingItem| (held(outlines.held_at[found.position]), found.fault.name());
        let blocking_items = blocking_items(outlines.held, &outlines.items).into_iter().map(found);
        let late = admission.late.iter();
        let late = late.map(|(position, made_up)| {
            (held(*made_up), *position, admission.item(*position).clone())
        });
        Self { blocking_items: blocking_items.collect(), late: late.collect(), deleted: false }
    }

    /// Whether the plan follows a deletion.
    pub(super) fn is_deleted(&self) -> bool {
        self.deleted
    }

    /// The items that no request can repair.
    pub(super) fn blocking_items(&self) -> &[(HeldItem, &'static str)] {
        &self.blocking_items
    }

    /// The ids of the items that no request can repair.
    pub(super) fn ids(&self) -> HashSet<ItemId> {
        self.blocking_items.iter().map(|(item, _)| item.id.clone()).collect()
    }

    fn is_nothing(&self) -> bool {
        self.blocking_items.is_empty() && self.late.is_empty()
    }

    fn items(&self) -> impl Iterator<Item = &HeldItem> {
        let blocking_items = self.blocking_items.iter().map(|(item, _)| item);
        blocking_items.chain(self.late.iter().map(|(item, ..)| item))
    }

    /// Whether the upstream's ids of all these items are known. The upstream issues the ids of
    /// items that it receives.
    fn is_named(&self) -> bool {
        self.items().all(|item| item.head.id.is_some())
    }
}

impl UpstreamTurn<'_> {
    /// Plans the turn after deleting the items that block it, if they can be deleted. Each is
    /// deleted under the conversation's lease, at the upstream and then in the ledger. The others
    /// stay: a late output is then sent as a message, and any other item is left for the upstream
    /// to reject.
    ///
    /// If the turn fails or the process dies after a deletion, the next turn finds the call without
    /// an output and repairs it.
    pub(super) async fn planned(&self, opened: Opened, basis: Basis) -> Result<Planned, ApiError> {
        let plan = self.plan(&opened, &basis).await?;
        let Some(conversation) = self.may_delete_in(&plan).await else {
            return self.around(Planned { opened, plan, basis }).await;
        };
        let (opened, basis, plan) = if plan.stuck.is_named() {
            (opened, basis, plan)
        } else {
            let (opened, basis) = self.learnt_anew(opened, basis).await?;
            let plan = self.plan(&opened, &basis).await?;
            (opened, basis, plan)
        };
        self.mark_stale(&opened).await?;
        let deleted = self.deleted(conversation, &opened, &plan.stuck).await?;
        if deleted.is_nothing() {
            return Ok(Planned { opened, plan, basis });
        }
        let mut plan = self.plan(&opened, &basis).await?;
        plan.tell_of(&deleted);
        Ok(Planned { opened, plan, basis })
    }

    /// The upstream's conversation id, if an item should be deleted from it and can be.
    async fn may_delete_in(&self, plan: &Plan) -> Option<&str> {
        let Continues::Conversation(id) = &self.turn.request.continues else { return None };
        let is_wanted = !plan.stuck.is_nothing() && self.turn.mends();
        let may = is_wanted && self.http.capabilities(self.turn.caller).await.item_deletion;
        may.then_some(id)
    }

    /// Deletes the blocking items and returns the deleted ones. Stops at the first item that the
    /// upstream does not delete.
    async fn deleted(
        &self,
        conversation: &str,
        opened: &Opened,
        stuck: &BlockingItems,
    ) -> Result<BlockingItems, ApiError> {
        let mut deleted = BlockingItems::default();
        for found in &stuck.blocking_items {
            if !self.delete(conversation, &found.0.id, opened).await? {
                return Ok(deleted);
            }
            deleted.blocking_items.push(found.clone());
        }
        for found in &stuck.late {
            if !self.delete(conversation, &found.0.id, opened).await? {
                return Ok(deleted);
            }
            deleted.late.push(found.clone());
        }
        Ok(deleted)
    }

    /// Deletes one item at the upstream and then in the ledger. Returns whether it is gone.
    async fn delete(
        &self,
        conversation: &str,
        item: &ItemId,
        opened: &Opened,
    ) -> Result<bool, ApiError> {
        if let Err(error) = self.provider().delete_item(conversation, item.as_str()).await {
            tracing::warn!(%error, "an upstream does not delete an item that keeps it from a turn");
            return Ok(false);
        }
        let ledger = opened.conversation.as_ref().expect("it is a turn of one");
        let (store, tenant) = (&self.turn.gateway.store, &self.turn.caller.tenant);
        store.delete_item(tenant, ledger, item).await?;
        Ok(true)
    }
}

impl Plan {
    /// Reports the deleted items.
    fn tell_of(&mut self, deleted: &BlockingItems) {
        for (item, fault) in &deleted.blocking_items {
            self.report.deleted_upstream(item, fault);
        }
        for (made_up, position, output) in &deleted.late {
            self.report.gave_way_upstream(made_up);
            self.report.late_output(*position, output, LateOutput::Replaces);
        }
        self.stuck.deleted = true;
    }
}

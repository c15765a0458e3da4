//! Stored items that are deleted before a turn.

use std::collections::HashSet;

use crate::item::{Item, ItemId};
use crate::placeholder::LateOutput;
use crate::reconcile::Admission;
use crate::repair::ReportedRepair;
use crate::transcript::HeldItem;

/// The message of reports for a deleted item that no request can repair.
const DELETED: &str = "The upstream took no turn behind the item, which was deleted there.";
/// The message of reports for a deleted placeholder.
const PLACEHOLDER_DELETED: &str =
    "The placeholder output was deleted: the real output replaces it.";
/// The message of reports for an item that a detour avoids.
const AVOIDED: &str = "The upstream took no turn behind the item. This one goes on from the \
                       response before it, and refers to what else stood there.";

/// The items of a conversation to delete before its next turn: the server accepts no turn after
/// them, or their real output has arrived.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockingItems {
    unrepairable: Vec<(HeldItem, &'static str)>,
    late: Vec<(HeldItem, usize)>,
}

impl BlockingItems {
    /// `unrepairable` has the items that no request can repair. The late outputs come from the
    /// admission.
    pub(super) fn new(unrepairable: Vec<(HeldItem, &'static str)>, admission: &Admission) -> Self {
        let stored = |at: usize| admission.transcript.items()[at].clone();
        let late = admission.late().map(|(position, placeholder)| (stored(placeholder), position));
        Self { unrepairable, late: late.collect() }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.unrepairable.is_empty() && self.late.is_empty()
    }

    /// The ids of the items that no request can repair.
    pub(super) fn unrepairable_ids(&self) -> HashSet<ItemId> {
        self.unrepairable.iter().map(|(item, _)| item.id.clone()).collect()
    }

    /// The ids of all these items.
    pub(super) fn ids(&self) -> impl Iterator<Item = &ItemId> {
        self.items().map(|item| &item.id)
    }

    /// Whether the server's ids of all these items are known. The server issues the ids of items
    /// that it receives.
    pub(super) fn have_server_ids(&self) -> bool {
        self.items().all(|item| item.head.id.is_some())
    }

    /// Those of these items that were deleted.
    #[must_use]
    pub(super) fn only(mut self, deleted: &HashSet<ItemId>) -> Self {
        self.unrepairable.retain(|(item, _)| deleted.contains(&item.id));
        self.late.retain(|(item, _)| deleted.contains(&item.id));
        self
    }

    /// Reports the deletion of these items at the server. The late outputs are in `input`.
    pub(super) fn report_deletions(&self, input: &[Item]) -> Vec<ReportedRepair> {
        let action = "deleted_upstream";
        let mut repairs = self.report_unrepairable(action, DELETED);
        for (placeholder, position) in &self.late {
            let names = (LateOutput::FAULT, action);
            let item = &input[*position];
            repairs.push(ReportedRepair::new(None, &placeholder.head, names, PLACEHOLDER_DELETED));
            let replaces = LateOutput::Replaces;
            repairs.push(ReportedRepair::from_late_output(*position, item, replaces));
        }
        repairs
    }

    /// Reports that a detour avoids these items.
    pub(super) fn report_detour(&self) -> Vec<ReportedRepair> {
        self.report_unrepairable("left_behind", AVOIDED)
    }

    fn report_unrepairable(&self, action: &'static str, message: &str) -> Vec<ReportedRepair> {
        let report = |(held, fault): &(HeldItem, &'static str)| {
            ReportedRepair::new(None, &held.head, (*fault, action), message)
        };
        self.unrepairable.iter().map(report).collect()
    }

    fn items(&self) -> impl Iterator<Item = &HeldItem> {
        let unrepairable = self.unrepairable.iter().map(|(item, _)| item);
        unrepairable.chain(self.late.iter().map(|(item, _)| item))
    }
}

//! Report entries of turns whose state is owned by an upstream.

use antiphon::placeholder::LateOutput;
use antiphon::stateful::BlockingItems;
use antiphon::{HeldItem, Item, ItemId};
use serde::Serialize;

use super::{Report, ReportedRepair, ResentItem};

/// A rejection that made the gateway resync its ledger.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Relearned {
    fault: &'static str,
    /// The upstream's message.
    message: String,
}

impl Report {
    /// Reports that the upstream rejected the turn and that the ledger was resynced.
    pub(in crate::turn) fn relearned(&mut self, fault: &'static str, message: &str) {
        self.relearned = Some(Relearned { fault, message: message.to_owned() });
    }

    /// Reports how many stored items were sent in full.
    pub(in crate::turn) fn replayed(&mut self, items: usize) {
        self.replayed = Some(items);
    }

    /// Whether all input items were stored already.
    pub(in crate::turn) fn is_all_resent(&self) -> bool {
        self.resent.len() == self.input_items
    }

    /// Reports an item that an earlier attempt at the same request stored.
    pub(in crate::turn) fn brought(&mut self, position: usize, item: &Item, held: &ItemId) {
        self.resent.push(ResentItem {
            position,
            kind: item.head().kind.to_string(),
            item_id: held.to_string(),
            rule: "same_request",
            differs: false,
        });
    }

    /// Reports an output that arrived after a placeholder for the same call.
    pub(in crate::turn) fn late_output(&mut self, position: usize, item: &Item, late: LateOutput) {
        let (fault, message) = (LateOutput::FAULT, late.message().to_owned());
        self.repair(Some(position), item, fault, late.action(), message);
    }

    /// Reports the items that were deleted at the upstream: they blocked every later turn, or their
    /// real outputs arrived in `input`.
    pub(in crate::turn) fn add_deletions(&mut self, deleted: &BlockingItems, input: &[Item]) {
        let action = "deleted_upstream";
        for (item, fault) in deleted.unrepairable() {
            self.repair_upstream(item, fault, action, BlockingItems::DELETED);
        }
        for (placeholder, position) in deleted.late() {
            let message = BlockingItems::PLACEHOLDER_DELETED;
            self.repair_upstream(placeholder, LateOutput::FAULT, action, message);
            self.late_output(*position, &input[*position], LateOutput::Replaces);
        }
    }

    /// Reports items that stay in the previous response while the turn continues without them.
    pub(in crate::turn) fn add_avoided(&mut self, blocking: &BlockingItems) {
        for (item, fault) in blocking.unrepairable() {
            self.repair_upstream(item, fault, "left_behind", BlockingItems::AVOIDED);
        }
    }

    fn repair_upstream(
        &mut self,
        item: &HeldItem,
        fault: &'static str,
        action: &'static str,
        message: &str,
    ) {
        self.repairs.push(ReportedRepair {
            item_id: Some(item.id.to_string()),
            ..ReportedRepair::new(&item.head.kind, fault, action, message.to_owned())
        });
    }
}

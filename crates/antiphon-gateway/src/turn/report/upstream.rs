//! Report entries of turns whose state is owned by an upstream.

use antiphon::placeholder::LateOutput;
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

    /// Reports an item that was deleted at the upstream, because it blocked every later turn.
    pub(in crate::turn) fn deleted_upstream(&mut self, item: &HeldItem, fault: &'static str) {
        let message = "The upstream took no turn behind the item, which was deleted there.";
        self.repair_upstream(item, fault, "deleted_upstream", message);
    }

    /// Reports a placeholder output that was deleted in favor of the real one.
    pub(in crate::turn) fn gave_way_upstream(&mut self, made_up: &HeldItem) {
        let message = "The output that was made up was deleted: the real one takes its place.";
        self.repair_upstream(made_up, LateOutput::FAULT, "deleted_upstream", message);
    }

    /// Reports items that stay in the previous response while the turn continues without them.
    pub(in crate::turn) fn left_behind(&mut self, items: &[(HeldItem, &'static str)]) {
        let message = "The upstream took no turn behind the item. This one goes on from the response \
                       before it, and refers to what else stood there.";
        for (item, fault) in items {
            self.repair_upstream(item, fault, "left_behind", message);
        }
    }

    fn repair_upstream(
        &mut self,
        item: &HeldItem,
        fault: &'static str,
        action: &'static str,
        message: &str,
    ) {
        let (position, kind, message) = (None, item.head.kind.to_string(), message.to_owned());
        let (item_id, call_id) = (Some(item.id.to_string()), None);
        self.repairs.push(ReportedRepair {
            position,
            kind,
            item_id,
            call_id,
            fault,
            action,
            message,
        });
    }
}

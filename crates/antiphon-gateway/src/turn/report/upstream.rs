//! What a report says of turns whose state their upstream keeps.

use antiphon::made_up::LateOutput;
use antiphon::{HeldItem, Item, ItemId};
use serde::Serialize;

use super::{Repair, Report, ResentItem};

/// A refusal that made the gateway ask what the upstream holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Relearned {
    fault: &'static str,
    /// The upstream's words.
    message: String,
}

impl Report {
    /// The upstream refused the turn as it was first sent, and was asked what it holds.
    pub(in crate::turn) fn relearned(&mut self, fault: &'static str, message: &str) {
        self.relearned = Some(Relearned { fault, message: message.to_owned() });
    }

    /// So many held items were sent in full.
    pub(in crate::turn) fn replayed(&mut self, items: usize) {
        self.replayed = Some(items);
    }

    /// Whether all that the caller sent is held already.
    pub(in crate::turn) fn is_all_resent(&self) -> bool {
        self.resent.len() == self.input_items
    }

    /// An earlier attempt of the same request brought the item.
    pub(in crate::turn) fn brought(&mut self, position: usize, item: &Item, held: &ItemId) {
        self.resent.push(ResentItem {
            position,
            kind: item.head().kind.to_string(),
            item_id: held.to_string(),
            rule: "same_request",
            differs: false,
        });
    }

    /// An output came behind a made-up one of the same call.
    pub(in crate::turn) fn late_output(&mut self, position: usize, item: &Item, late: LateOutput) {
        let (fault, message) = (LateOutput::FAULT, late.message().to_owned());
        self.repair(Some(position), item, fault, late.action(), message);
    }

    /// An item was deleted at the upstream, which refuses every turn behind it.
    pub(in crate::turn) fn deleted_upstream(&mut self, item: &HeldItem, fault: &'static str) {
        let message = "The upstream took no turn behind the item, which was deleted there.";
        self.repair_upstream(item, fault, "deleted_upstream", message);
    }

    /// The output that was made up for a call gave way to the real one.
    pub(in crate::turn) fn gave_way_upstream(&mut self, made_up: &HeldItem) {
        let message = "The output that was made up was deleted: the real one takes its place.";
        self.repair_upstream(made_up, LateOutput::FAULT, "deleted_upstream", message);
    }

    /// Items stay in the response that the caller named, and the turn goes on around them.
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
        self.repairs.push(Repair { position, kind, item_id, call_id, fault, action, message });
    }
}

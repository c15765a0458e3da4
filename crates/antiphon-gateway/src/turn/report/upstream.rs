//! Report entries of turns whose state is owned by an upstream.

use antiphon::repair::ReportedRepair;
use serde::Serialize;

use super::Report;

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

    /// Adds repairs.
    pub(in crate::turn) fn add_repairs(&mut self, repairs: Vec<ReportedRepair>) {
        self.repairs.extend(repairs);
    }
}

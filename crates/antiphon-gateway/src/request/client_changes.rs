//! The differences between the request of a client of another API and the request that a turn runs.

use antiphon::dialect::{ClientFault, Omission};
use antiphon::repair::ReportedRepair;

/// Faults of a client's request that its upstream would have rejected, and parts of the request
/// that the Responses API cannot carry. The report of the turn lists them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientChanges {
    /// The repaired faults.
    pub(crate) repairs: Vec<ReportedRepair>,
    /// The parts that are left out or changed.
    pub(crate) fields: Vec<Omission>,
}

impl ClientChanges {
    /// The changes to a request with these faults and omissions. The encoder itself reports a fault
    /// without an action.
    pub(crate) fn new(faults: Vec<ClientFault>, fields: Vec<Omission>) -> Self {
        let repairs = faults.into_iter().filter_map(|fault| {
            let names = (fault.name, fault.action?);
            Some(ReportedRepair::without_item(fault.kind, names, fault.message))
        });
        Self { repairs: repairs.collect(), fields }
    }
}

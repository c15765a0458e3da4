//! The omitted and repaired items of a turn.

use std::collections::BTreeMap;

use super::BlockingItems;
use crate::faults::OmissionReason;
use crate::item::{Item, ItemId, Kind};
use crate::placeholder::LateOutput;
use crate::repair::{Finding, Repair};
use crate::transcript::HeldItem;

/// The changes to a request, for its caller and its operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of input items that the server had already.
    pub resent: usize,
    /// The repairs.
    pub repairs: Vec<ReportedRepair>,
    /// The name of the state error of the first attempt, if the request was then planned and sent
    /// again.
    pub resynced_after: Option<&'static str>,
    /// Whether the server does not list its items, so that items were left out by their kind.
    pub by_kind: bool,
}

/// An item that a provider would have rejected or stored twice, and its repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedRepair {
    /// The item's position in the input; `None` for an item of the server.
    pub position: Option<usize>,
    /// The item's id, if it has one.
    pub id: Option<ItemId>,
    /// The item's kind.
    pub kind: Kind,
    /// The name of the fault in reports.
    pub fault: &'static str,
    /// The name of the repair in reports.
    pub action: &'static str,
    /// The provider's message for the fault, or ours if the provider has none.
    pub message: String,
}

impl Report {
    /// The headers that a gateway adds for these changes.
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = vec![("antiphon-resent", self.resent.to_string())];
        if !self.repairs.is_empty() {
            headers.push(("antiphon-repairs", self.counts()));
        }
        if self.resynced_after.is_some() {
            headers.push(("antiphon-relearned", "true".to_owned()));
        }
        headers
    }

    /// `fault=N, …`, by name.
    fn counts(&self) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for repair in &self.repairs {
            *counts.entry(repair.fault).or_default() += 1;
        }
        let counts: Vec<String> =
            counts.iter().map(|(fault, count)| format!("{fault}={count}")).collect();
        counts.join(", ")
    }

    pub(super) fn add_omission(&mut self, position: usize, item: &Item, why: OmissionReason) {
        self.add(Some(position), item, (why.name(), "dropped"), why.message().to_owned());
    }

    pub(super) fn add_repair(&mut self, (position, item): (Option<usize>, &Item), repair: &Repair) {
        let refusal = repair.fault.refusal(position.unwrap_or(repair.position));
        let what = (repair.fault.name(), repair.action.name());
        self.add(position, item, what, refusal.message);
    }

    pub(super) fn add_late_output(&mut self, position: usize, item: &Item, what: LateOutput) {
        let message = what.message().to_owned();
        self.add(Some(position), item, (LateOutput::FAULT, what.action()), message);
    }

    /// Reports a message that is sent without its id, because another item has this id.
    pub(super) fn add_removed_id(&mut self, position: usize, item: &Item) {
        let message = "The id is held for another item; this one goes without.".to_owned();
        self.add(Some(position), item, ("used_id", "id_removed"), message);
    }

    /// Reports the items that were deleted at the server: it rejects every turn after them, or
    /// their real outputs arrived.
    pub(super) fn add_deletions(&mut self, deleted: &BlockingItems, input: &[Item]) {
        let action = "deleted_upstream";
        for (held, fault) in deleted.unrepairable() {
            self.add_stored(held, (fault, action), BlockingItems::DELETED);
        }
        for (placeholder, position) in deleted.late() {
            let names = (LateOutput::FAULT, action);
            self.add_stored(placeholder, names, BlockingItems::PLACEHOLDER_DELETED);
            self.add_late_output(*position, &input[*position], LateOutput::Replaces);
        }
    }

    /// Reports the items of the previous response that the turn leaves out of its context.
    pub(super) fn add_avoided(&mut self, blocking: &BlockingItems) {
        for (held, fault) in blocking.unrepairable() {
            self.add_stored(held, (fault, "left_behind"), BlockingItems::AVOIDED);
        }
    }

    fn add_stored(&mut self, held: &HeldItem, names: (&'static str, &'static str), message: &str) {
        self.add(None, &Item::outline(held.head.clone()), names, message.to_owned());
    }

    /// Reports the findings for a server that does not list its items.
    pub(super) fn add_findings(&mut self, input: &[(usize, &Item)], findings: &[Finding]) {
        for finding in findings {
            match (&finding.fault, finding.position) {
                (Some(fault), Some(nth)) => {
                    let (position, item) = input[nth];
                    let action = finding.action.map_or("dropped", |action| action.name());
                    let message = fault.refusal(position).message;
                    self.add(Some(position), item, (fault.name(), action), message);
                }
                _ => self.resent += 1,
            }
        }
        self.by_kind = true;
    }

    fn add(
        &mut self,
        position: Option<usize>,
        item: &Item,
        (fault, action): (&'static str, &'static str),
        message: String,
    ) {
        let (id, kind) = (item.head().id.clone(), item.head().kind.clone());
        self.repairs.push(ReportedRepair { position, id, kind, fault, action, message });
    }
}

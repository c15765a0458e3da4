//! The omitted and repaired items of a turn.

use std::collections::BTreeMap;

use crate::faults::OmissionReason;
use crate::item::{Item, ItemId, Kind};
use crate::placeholder::LateOutput;
use crate::repair::{Finding, Repair};

/// The changes to a request, for its caller and its operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of input items that the server had already.
    pub resent: usize,
    /// The repairs.
    pub repairs: Vec<ReportedRepair>,
    /// The name of the state error of the first attempt, if the request was then planned and sent
    /// again.
    pub relearned: Option<&'static str>,
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
        if self.relearned.is_some() {
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

    pub(super) fn left_out(&mut self, position: usize, item: &Item, why: OmissionReason) {
        self.add(Some(position), item, (why.name(), "dropped"), why.message().to_owned());
    }

    pub(super) fn mended(&mut self, position: Option<usize>, item: &Item, mend: &Repair) {
        let refusal = mend.fault.refusal(position.unwrap_or(mend.position));
        let what = (mend.fault.name(), mend.action.name());
        self.add(position, item, what, refusal.message);
    }

    pub(super) fn late_output(&mut self, position: usize, item: &Item, what: LateOutput) {
        let message = what.message().to_owned();
        self.add(Some(position), item, (LateOutput::FAULT, what.action()), message);
    }

    /// Reports a message that is sent without its id, because another item has this id.
    pub(super) fn unnamed(&mut self, position: usize, item: &Item) {
        let message = "The id is held for another item; this one goes without.".to_owned();
        self.add(Some(position), item, ("used_id", "id_removed"), message);
    }

    /// Reports an item that was deleted at the server, because the server rejects every turn after
    /// it.
    pub(super) fn deleted_upstream(&mut self, held: &Item, fault: &'static str) {
        let message = "The upstream took no turn behind the item, which was deleted there.";
        self.add(None, held, (fault, "deleted_upstream"), message.to_owned());
    }

    /// Reports a placeholder output that was deleted in favour of the real one.
    pub(super) fn gave_way_upstream(&mut self, made_up: &Item) {
        let message = "The output that was made up was deleted: the real one takes its place.";
        self.add(None, made_up, (LateOutput::FAULT, "deleted_upstream"), message.to_owned());
    }

    /// Reports an item of the caller's previous response that the turn leaves out of its context.
    pub(super) fn left_behind(&mut self, held: &Item, fault: &'static str) {
        let message = "The upstream took no turn behind the item. This one goes on from the response \
                       before it, and refers to what else stood there.";
        self.add(None, held, (fault, "left_behind"), message.to_owned());
    }

    /// Reports the findings for a server that does not list its items.
    pub(super) fn found_by_kind(&mut self, input: &[(usize, &Item)], findings: &[Finding]) {
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

//! The omitted and repaired items of a turn.

use serde::Serialize;

use crate::item::{Item, ItemId, Kind};
use crate::reconcile::{Admission, Treatment};
use crate::repair::{Finding, ReportedRepair, serialize_kind};

/// The changes to a request, for its caller and its operator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of input items that the server had already.
    pub resent: usize,
    /// Those of them whose stored items are known.
    pub resent_items: Vec<ResentItem>,
    /// The repairs.
    pub repairs: Vec<ReportedRepair>,
    /// The name of the state error of the first attempt, if the request was then planned and sent
    /// again.
    pub resynced_after: Option<&'static str>,
    /// Whether the server does not list its items, so that items were left out by their kind.
    pub by_kind: bool,
    /// The number of stored items that are sent in full, if the server has lost the previous
    /// response.
    pub replayed: Option<usize>,
}

/// An item of an input that was stored already.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResentItem {
    /// The position in the input.
    pub position: usize,
    /// The item's kind.
    #[serde(rename = "type", serialize_with = "serialize_kind")]
    pub kind: Kind,
    /// The id of the stored item.
    #[serde(rename = "item_id")]
    pub id: ItemId,
    /// The name of the rule that matched the stored item.
    pub rule: &'static str,
    /// Whether the content differs from the stored item, which takes precedence.
    pub differs: bool,
}

impl Report {
    /// Reports the items of the input that were not added unchanged.
    pub fn from_admission(input: &[Item], admission: &Admission) -> Self {
        let repairs = ReportedRepair::from_admission(input, admission);
        let mut report = Self { repairs, ..Self::default() };
        for (position, (item, treatment)) in input.iter().zip(&admission.treatments).enumerate() {
            let is_known = matches!(treatment, Treatment::Resent(_) | Treatment::StoredBefore(_));
            report.resent += usize::from(is_known);
            let Some((held, rule, differs)) = treatment.stored_item() else { continue };
            let (kind, id) =
                (item.head().kind.clone(), admission.transcript.items()[held].id.clone());
            report.resent_items.push(ResentItem { position, kind, id, rule, differs });
        }
        report
    }

    /// The headers that a gateway adds for these changes.
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = vec![("antiphon-resent", self.resent.to_string())];
        if !self.repairs.is_empty() {
            let faults = self.repairs.iter().map(|repair| repair.fault);
            headers.push(("antiphon-repairs", ReportedRepair::count_faults(faults)));
        }
        if self.resynced_after.is_some() {
            headers.push(("antiphon-relearned", "true".to_owned()));
        }
        headers
    }

    /// Reports the findings for a server that does not list its items.
    pub(super) fn add_findings(&mut self, input: &[(usize, &Item)], findings: &[Finding]) {
        for finding in findings {
            match (&finding.fault, finding.position) {
                (Some(fault), Some(nth)) => {
                    let (position, item) = input[nth];
                    let action = finding.action.map_or("dropped", |action| action.name());
                    let message = fault.refusal(position).message;
                    let names = (fault.name(), action);
                    let repair = ReportedRepair::new(Some(position), item.head(), names, message);
                    self.repairs.push(repair);
                }
                _ => self.resent += 1,
            }
        }
        self.by_kind = true;
    }
}

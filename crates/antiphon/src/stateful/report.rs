//! The omitted and repaired items of a turn.

use crate::item::Item;
use crate::reconcile::{Admission, Treatment};
use crate::repair::{Finding, ReportedRepair};

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

impl Report {
    /// Reports the items of the input that were not added unchanged.
    pub(super) fn from_admission(input: &[Item], admission: &Admission) -> Self {
        let mut report = Self::default();
        for (position, (item, treatment)) in input.iter().zip(&admission.treatments).enumerate() {
            report.repairs.extend(ReportedRepair::from_treatment(position, item, treatment));
            if matches!(treatment, Treatment::Resent(_) | Treatment::StoredBefore(_)) {
                report.resent += 1;
            }
        }
        report.repairs.extend(ReportedRepair::from_doubts(input, &admission.doubts));
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

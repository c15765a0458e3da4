//! The report of all repairs of a run.

use std::collections::HashSet;

use antiphon::dialect::Omission;
use antiphon::repair::ReportedRepair;

use super::{Run, RunEvent, trace};

/// The repairs of a run, each once: a request repeats the repairs of the one before it.
#[derive(Debug, Default)]
pub(super) struct RepairReport {
    list: Vec<ReportedRepair>,
    known: HashSet<ReportedRepair>,
}

impl RepairReport {
    fn add(&mut self, repairs: &[ReportedRepair]) {
        for repair in repairs {
            if self.known.insert(repair.clone()) {
                self.list.push(repair.clone());
            }
        }
    }

    pub(super) fn into_list(self) -> Vec<ReportedRepair> {
        self.list
    }
}

impl<C> Run<C> {
    /// Reports the repairs of the items of a request.
    pub(super) fn report_request(&mut self, repairs: &[ReportedRepair]) {
        repairs.iter().for_each(trace::repaired);
        self.repairs.add(repairs);
    }

    /// Reports the parts of a request that its server could not get.
    pub(super) fn report_sent(&mut self, repairs: &[ReportedRepair], omissions: &[Omission]) {
        self.repairs.add(repairs);
        if !repairs.is_empty() {
            self.events.push_back(RunEvent::Repaired(repairs.to_vec()));
        }
        if !omissions.is_empty() {
            self.events.push_back(RunEvent::Omitted(omissions.to_vec()));
        }
    }

    /// Reports the machine's own changes. Returns whether there are any.
    pub(super) fn report_machine(&mut self) -> bool {
        let repairs = self.machine.take_repairs();
        if repairs.is_empty() {
            return false;
        }
        self.report_request(&repairs);
        self.events.push_back(RunEvent::Repaired(repairs));
        true
    }
}

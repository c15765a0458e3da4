//! Plans the request of a turn, and deletes or avoids stored items that block it.

use bytes::Bytes;

use super::course::{Decision, PlanSummary, Removal};
use super::deletion::Deletion;
use super::history::History;
use super::ledger::Attempt;
use super::planning::{Plan, Planner};
use super::request::Continues;
use super::turn::{PlanInputs, PlannedRequest, Purpose, Stage, Turn};
use super::unknown;
use crate::faults::StateError;
use crate::provider_api::{DetourSearch, DetourStep, RefusedItems};

impl Turn {
    /// Plans the request. Before it is sent, stored items that block it are deleted or avoided.
    pub(super) fn plan(&mut self, inputs: PlanInputs) {
        let plan = self.new_plan(&inputs);
        self.proceed(inputs, plan);
    }

    fn new_plan(&mut self, inputs: &PlanInputs) -> Plan {
        let refused = self.course.fault().map(RefusedItems::from_error).unwrap_or_default();
        let is_stored = match inputs {
            PlanInputs::Known(history) if self.state.is_open() => {
                self.state.is_input_stored(self.request.digest(self.key), history)
            }
            _ => false,
        };
        let planner = Planner {
            input: &self.request.input,
            refused: &refused,
            is_stored,
            key: self.key,
            style: self.request.style,
            ids: &mut self.ids,
        };
        match (inputs, self.purpose) {
            (PlanInputs::Nothing, _) => planner.plan_first(),
            (PlanInputs::Unlisted(received), _) => planner.plan_by_kind(received),
            (PlanInputs::Known(history), Purpose::Answer) => planner.plan_after(history),
            (PlanInputs::Known(history), Purpose::Delivery) => planner.plan_delivery(history),
        }
    }

    fn proceed(&mut self, inputs: PlanInputs, plan: Plan) {
        let body = match self.purpose {
            Purpose::Answer => self.request.with_input(&plan.sent),
            Purpose::Delivery => self.request.with_delivered(&plan.sent),
        };
        self.proceed_with(body, inputs, plan);
    }

    fn proceed_with(&mut self, body: Bytes, inputs: PlanInputs, plan: Plan) {
        let is_known = matches!(inputs, PlanInputs::Known(_));
        // The known items come from this process's turns. Turns of other processes may be missing.
        let lacks_items = is_known && self.state.is_open() && unknown::in_plan(&plan);
        let is_new_request =
            self.rejected.as_ref() != Some(&body) && !plan.is_emptied(&self.request.input);
        let removal = match is_known {
            true => plan.removal(&self.request.continues),
            false => Removal::None,
        };
        match (self.course.decide(PlanSummary { lacks_items, removal, is_new_request }), inputs) {
            (Decision::Sync, _) => {
                self.state.end_unchanged();
                self.sync();
            }
            (Decision::Delete, PlanInputs::Known(history)) => self.delete(history, plan),
            (Decision::Detour, PlanInputs::Known(history)) => self.detour(history, plan),
            (Decision::GiveUp, _) => self.give_up_unchanged(),
            (_, inputs) => self.send(body, inputs, plan),
        }
    }

    fn delete(&mut self, history: History, plan: Plan) {
        let Continues::Conversation(id) = &self.request.continues else { return };
        let deletion = Deletion::new(id, history, plan);
        self.state.record_deletion();
        self.stage = Stage::Deleting(Box::new(deletion));
    }

    pub(super) fn plan_after_deletion(&mut self, deletion: Deletion) {
        let Deletion { deleted, history, plan, .. } = deletion;
        if deleted.is_empty() {
            return self.proceed(PlanInputs::Known(history), plan);
        }
        let inputs = PlanInputs::Known(history.with_deleted(&deleted));
        let mut new_plan = self.new_plan(&inputs);
        let deleted = plan.blocking.only(&deleted);
        new_plan.report.repairs.extend(deleted.report_deletions(&self.request.input));
        self.rejected = None;
        self.proceed(inputs, new_plan);
    }

    fn detour(&mut self, history: History, plan: Plan) {
        let Continues::Response(id) = &self.request.continues else { return };
        match DetourSearch::new(id, plan.blocking.unrepairable_ids()) {
            Some(search) => {
                self.stage = Stage::Detouring(Box::new(search), Box::new((history, plan)));
            }
            None => self.proceed(PlanInputs::Known(history), plan),
        }
    }

    /// Takes an answer to the search for a detour. Without a detour the turn is sent as planned,
    /// and the server decides.
    pub(super) fn search_detour(
        &mut self,
        search: DetourSearch,
        planned: Box<(History, Plan)>,
        (status, body): (u16, &Bytes),
    ) {
        let detour = match search.take(status, body) {
            DetourStep::Request(search) => return self.stage = Stage::Detouring(search, planned),
            DetourStep::Done(detour) => detour,
        };
        let (history, plan) = *planned;
        let Some(detour) = detour else {
            return self.proceed(PlanInputs::Known(history), plan);
        };
        let inputs = PlanInputs::Known(history.without(&plan.blocking.unrepairable_ids()));
        let mut new_plan = self.new_plan(&inputs);
        new_plan.report.repairs.extend(plan.blocking.report_detour());
        let items: Vec<_> = detour.references.iter().chain(&new_plan.sent).cloned().collect();
        let body = self.request.with_input_after(detour.previous.as_deref(), &items);
        self.proceed_with(body, inputs, new_plan);
    }

    fn send(&mut self, body: Bytes, inputs: PlanInputs, plan: Plan) {
        self.report = plan.report.clone();
        self.report.resynced_after = self.course.fault().map(StateError::name);
        if self.purpose == Purpose::Delivery && plan.sent.is_empty() {
            return self.state.end_unchanged();
        }
        if let PlanInputs::Known(before) = &inputs
            && self.state.is_open()
            && !plan.fresh.is_empty()
        {
            let (before, sent) = (before.clone(), plan.fresh.clone());
            let (request, is_again) = (self.request.digest(self.key), plan.is_again);
            self.state.record_attempt(Some(Attempt { request, before, sent, is_again }));
        }
        self.stage = Stage::Sending(PlannedRequest { body, planned: Some((inputs, plan)) });
    }

    pub(super) fn send_unchanged(&mut self) {
        let body = self.request.unchanged();
        self.stage = Stage::Sending(PlannedRequest { body, planned: None });
    }
}

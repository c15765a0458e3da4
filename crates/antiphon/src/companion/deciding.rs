//! Plans the request of a turn, and deletes or skips stored items that block it.

use super::admission::Known;
use super::around::{Around, Footing};
use super::course::{Basis, Course, Purpose, Sending, Stage};
use super::deleting::Deleting;
use super::ending::Left;
use super::history::History;
use super::planning::{Plan, Planner};
use super::request::GoesOn;
use super::retry::Attempt;
use super::stuck::{around, without};
use super::underway::Underway;
use super::unknown;
use crate::provider_api::RefusedItems;
use bytes::Bytes;

impl Course {
    /// Plans the request. Before it is sent, stored items that block it are deleted or skipped.
    pub(super) fn plan(&mut self, basis: Basis) {
        let plan = self.planned(&basis);
        if self.may_lack_turns(&basis) && unknown::in_plan(&plan) {
            self.release(Left::Nothing);
            return self.ask();
        }
        match basis {
            Basis::Held(history) if !self.has_cleared && !plan.stuck.is_nothing() => {
                self.clear(history, plan);
            }
            basis => self.send(basis, plan),
        }
    }

    /// Whether the known items come only from this process's earlier turns, so that turns of other
    /// processes may be missing.
    fn may_lack_turns(&self, basis: &Basis) -> bool {
        matches!(basis, Basis::Held(_)) && self.underway.is_some() && !self.has_learnt
    }

    fn planned(&mut self, basis: &Basis) -> Plan {
        let objections =
            self.refusal.as_ref().map(|refusal| RefusedItems::from_error(&refusal.fault));
        let objections = objections.unwrap_or_default();
        let is_brought = self.is_brought(basis);
        let planner = Planner {
            input: &self.request.input,
            known: Known { objections: &objections, is_brought },
            key: self.key,
            ids: &mut self.ids,
        };
        match (basis, self.purpose) {
            (Basis::Nothing, _) => planner.whole(),
            (Basis::Untold(heard), _) => planner.by_kind(heard),
            (Basis::Held(history), Purpose::Answer) => planner.behind(history),
            (Basis::Held(history), Purpose::Delivery) => planner.delivered(history),
        }
    }

    /// Whether an earlier attempt of the same request added its input to the conversation.
    fn is_brought(&self, basis: &Basis) -> bool {
        let (GoesOn::Conversation(id), Basis::Held(history)) = (&self.request.goes_on, basis)
        else {
            return false;
        };
        let left = self.memory.left(&self.name(id), self.request.digest(self.key));
        left.is_some_and(|attempt| attempt.brought_its_input(history))
    }

    /// Deletes the blocking items, or continues from the response before them. The server issues
    /// the ids of items that it receives, so these ids may have to be asked for first.
    fn clear(&mut self, history: History, plan: Plan) {
        if !plan.stuck.is_named() && !self.has_learnt && self.underway.is_some() {
            self.release(Left::Nothing);
            return self.ask();
        }
        self.has_cleared = true;
        match &self.request.goes_on {
            GoesOn::Conversation(id) if Deleting::is_possible(&plan) => {
                self.underway.iter_mut().for_each(Underway::deletes);
                self.stage = Stage::Deleting(Box::new(Deleting::of(id, history, plan)));
            }
            GoesOn::Response(id) if Around::is_possible(id, &plan) => {
                self.stage = Stage::GoingAround(Box::new(Around::of(id, history, plan)));
            }
            _ => self.send(Basis::Held(history), plan),
        }
    }

    /// Continues after the deletions.
    pub(super) fn deleted(&mut self, deleting: Deleting) {
        let Deleting { deleted, history, plan, .. } = deleting;
        if deleted.is_empty() {
            return self.send(Basis::Held(history), plan);
        }
        let basis = Basis::Held(without(&history, &deleted));
        let mut anew = self.planned(&basis);
        plan.stuck.report(&deleted, &self.request.input, &mut anew.report);
        if let Some(refusal) = &mut self.refusal {
            refusal.has_deleted = true;
        }
        self.send(basis, anew);
    }

    /// Continues after the search for the items around the blocking ones. Without a footing the
    /// turn is sent as planned, and the server decides.
    pub(super) fn found_around(&mut self, found: Around, footing: Option<Footing>) {
        let Around { history, plan, .. } = found;
        let Some(Footing { previous, references }) = footing else {
            return self.send(Basis::Held(history), plan);
        };
        let basis = Basis::Held(around(&history, &plan.stuck.unmendable_ids()));
        let mut anew = self.planned(&basis);
        plan.stuck.report_left_behind(&mut anew.report);
        let items: Vec<_> = references.iter().chain(&anew.sent).cloned().collect();
        let body = self.request.with_input_behind(previous.as_deref(), &items);
        self.send_body(body, basis, anew);
    }

    fn send(&mut self, basis: Basis, plan: Plan) {
        let body = match self.purpose {
            Purpose::Answer => self.request.with_input(&plan.sent),
            Purpose::Delivery => self.request.with_delivered(&plan.sent),
        };
        self.send_body(body, basis, plan);
    }

    fn send_body(&mut self, body: Bytes, basis: Basis, plan: Plan) {
        if let Some(refusal) = &self.refusal {
            let is_other = refusal.has_deleted || body != refusal.body;
            if !is_other || plan.is_emptied(&self.request.input) {
                return self.give_up(Left::Nothing);
            }
        }
        self.report = plan.report.clone();
        self.report.relearned = self.refusal.as_ref().map(|refusal| refusal.fault.name());
        if self.purpose == Purpose::Delivery && plan.sent.is_empty() {
            self.release(Left::Nothing);
            self.stage = Stage::Over;
            return;
        }
        if let (Some(underway), Basis::Held(before)) = (&mut self.underway, &basis)
            && !plan.fresh.is_empty()
        {
            let (before, sent) = (before.clone(), plan.fresh.clone());
            let (request, is_again) = (self.request.digest(self.key), plan.is_again);
            underway.sends(Attempt { request, before, sent, is_again });
        }
        self.stage = Stage::Sending(Sending { body, planned: Some((basis, plan)) });
    }

    pub(super) fn send_as_it_came(&mut self) {
        let body = self.request.as_it_came();
        self.stage = Stage::Sending(Sending { body, planned: None });
    }
}

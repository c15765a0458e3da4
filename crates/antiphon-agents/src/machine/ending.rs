//! The end of a run.

use antiphon::Item;
use antiphon::item::Side;
use antiphon::tracker::Occurrence;

use super::calls::{CallStatus, OpenCall};
use super::state::{Owner, Stop};
use super::{End, Machine};
use crate::rules::CancelMode;

/// The output of a call that an ended run did not execute.
pub(super) const NOT_RUN: &str = "The run ended before this call was executed.";
/// The output of a call whose tool was cancelled.
pub(super) const CANCELLED: &str =
    "The call was cancelled while it was executed. Its outcome is unknown.";
/// The output of a call whose process died.
pub(super) const UNKNOWN_OUTCOME: &str =
    "The process ended while the call was executed. Its outcome is unknown.";

impl Machine {
    /// Cancels the run. With [`CancelMode::Immediate`], abort the request to the model first, if
    /// there is one.
    pub fn cancel(&mut self, mode: CancelMode) {
        if self.state.end.is_some() {
            return;
        }
        match mode {
            CancelMode::Immediate => {
                self.rewind(true);
                self.stop(End::Cancelled);
            }
            CancelMode::AfterTurn => {
                let stop = Stop::AfterTurn(End::Cancelled);
                self.state.stopping.get_or_insert(stop);
            }
        }
        self.advance();
    }

    /// Ends the run because a guardrail rejected its input.
    pub fn trip(&mut self, guardrail: &str) {
        if self.is_asking() {
            self.rewind(true);
        }
        self.stop(End::Tripped { guardrail: guardrail.to_owned() });
        self.advance();
    }

    /// Ends the run because an effect failed, with a sentence.
    pub fn fail(&mut self, error: &str) {
        self.stop(End::Failed { error: error.to_owned() });
        self.advance();
    }

    /// Ends the run once no tool runs. The first reason counts.
    pub(super) fn stop(&mut self, end: End) {
        match &self.state.stopping {
            Some(Stop::Now(_)) => {}
            Some(Stop::AfterTurn(_)) | None => self.state.stopping = Some(Stop::Now(end)),
        }
    }

    pub(super) fn end(&mut self, end: End) {
        self.state.end.get_or_insert(end);
        self.state.transfer = None;
        self.state.staged.finish();
    }

    /// Performs the transitions without an effect.
    pub(super) fn advance(&mut self) {
        if self.state.end.is_some() || !self.is_loaded {
            return;
        }
        if let Some(Stop::Now(end)) = self.state.stopping.clone() {
            if self.state.calls.with_status(CallStatus::Started).next().is_none() {
                self.close_all();
                self.end(end);
            }
            return;
        }
        if self.is_between_turns() && !self.is_asking() {
            self.begin_turn();
        }
    }

    /// Whether nothing is left to do for the last answer.
    pub(super) fn is_between_turns(&self) -> bool {
        self.state.calls.is_empty()
            && self.state.transfer.is_none()
            && self.state.unchecked.is_none()
    }

    /// Whether a request has been sent and not answered, in this process or in an earlier one.
    pub(crate) fn is_asking(&self) -> bool {
        self.awaits_answer || matches!(self.state.owner, Owner::Server { asking: Some(_), .. })
    }

    /// Ends the run before the next request, or adds the staged input to it.
    fn begin_turn(&mut self) {
        let agent = self.state.agent.clone();
        match &self.state.stopping {
            Some(Stop::AfterTurn(end)) => self.end(end.clone()),
            _ if self.state.stops_at_tool => self.end(End::StoppedAtTool { agent }),
            _ if self.state.turns() >= self.roster.limits.turns => {
                self.end(End::TurnLimit { turns: self.state.turns() });
            }
            _ => {
                for item in self.state.staged.take() {
                    self.push(item);
                }
            }
        }
    }

    /// Gives every open call an output.
    fn close_all(&mut self) {
        for OpenCall { item, status, .. } in self.state.calls.take() {
            let text = match status {
                CallStatus::Started | CallStatus::OutcomeUnknown => UNKNOWN_OUTCOME,
                CallStatus::InnerWaits => CANCELLED,
                CallStatus::Unreviewed | CallStatus::AwaitsApproval | CallStatus::Ready => NOT_RUN,
            };
            self.close_unanswered(&item, text);
        }
    }

    /// The outputs that a server's conversation waits for.
    pub(super) fn undelivered(&self) -> Vec<Item> {
        self.outputs_to_deliver().into_iter().map(|(_, item)| item).collect()
    }

    fn outputs_to_deliver(&self) -> Vec<(Occurrence, Item)> {
        let Owner::Server { tracker, .. } = &self.state.owner else { return Vec::new() };
        if tracker.continuation().conversation_id().is_none() || self.state.has_failed_delivery {
            return Vec::new();
        }
        let plan = tracker.plan();
        let is_output = |item: &Item| matches!(item.head().pairing(), Some((Side::Output, _)));
        let planned = plan.items.into_iter().map(|planned| (planned.occurrence, planned.item));
        planned.filter(|(_, item)| is_output(item)).collect()
    }

    /// Records that the outputs of [`Step::Deliver`](super::Step::Deliver) are posted.
    pub fn delivered(&mut self) {
        let occurrences: Vec<_> = self.outputs_to_deliver().into_iter().map(|(at, _)| at).collect();
        if let Owner::Server { tracker, .. } = &mut self.state.owner {
            let attempt = tracker.send(&occurrences).expect("they are planned");
            tracker.accept(attempt, None, &[]).expect("it is in flight");
        }
    }

    /// Records that the outputs cannot be posted: they stay in the state of the run.
    pub fn delivery_failed(&mut self) {
        self.state.has_failed_delivery = true;
    }

    /// Records that the items of [`Step::Remove`](super::Step::Remove) are deleted, or cannot be.
    pub fn removed(&mut self) {
        self.state.rejected.clear();
    }
}

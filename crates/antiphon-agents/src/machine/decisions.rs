//! Decisions about calls: of tools, of the application, and of checks.

use std::collections::BTreeMap;

use antiphon::Item;
use antiphon::item::{CallKey, Kind};
use antiphon::json::quote;
use antiphon::tracker::Attempt;
use serde::{Deserialize, Serialize};

use super::calls::{CallStatus, OpenCall, tool_name};
use super::state::{AnswerRecord, Owner};
use super::{Check, End, Machine, ModelAnswer, Pause};
use crate::item_json;

/// The reason why a decision about a call does not fit. Nothing changed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecisionError {
    /// No open call has this `call_id`.
    #[error("no open call has the id '{0}'")]
    NoSuchCall(String),
    /// The call runs, or will run, without a decision.
    #[error("the call '{0}' does not wait for a decision")]
    NotWaiting(String),
    /// The call needs an approval, and this is another decision.
    #[error("the call '{0}' waits for an approval: approve or reject it")]
    WaitsForApproval(String),
    /// The outcome of the call is unknown, and the decision is an approval.
    #[error("the outcome of the call '{0}' is unknown: retry it, reject it, or supply its output")]
    OutcomeUnknown(String),
}

debug_as_text!(DecisionError);

/// A decision about a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Decision {
    /// Its tool runs.
    Approve,
    /// The model reads this text in place of an output.
    Reject(String),
    /// Its tool, whose outcome is unknown, runs again.
    Retry,
    /// This is the output of its tool, whose outcome is unknown.
    Supply(#[serde(with = "item_json")] Item),
}

impl Decision {
    /// Whether a call with this status waits for it.
    pub(super) fn fits(&self, status: CallStatus) -> bool {
        match self {
            Self::Approve => status == CallStatus::AwaitsApproval,
            Self::Reject(_) => {
                matches!(status, CallStatus::AwaitsApproval | CallStatus::OutcomeUnknown)
            }
            Self::Retry | Self::Supply(_) => status == CallStatus::OutcomeUnknown,
        }
    }
}

impl Machine {
    /// Records whether a call of [`Step::Review`](super::Step::Review) needs an approval.
    pub fn reviewed(&mut self, call: &CallKey, needs_approval: bool) {
        let status = match needs_approval {
            true => CallStatus::AwaitsApproval,
            false => CallStatus::Ready,
        };
        self.state.calls.change(call, CallStatus::Unreviewed, status);
        self.apply_standing();
        self.advance();
    }

    /// Approves a call: its tool runs.
    pub fn approve(&mut self, call_id: &str) -> Result<(), DecisionError> {
        self.decide(call_id, &Decision::Approve)
    }

    /// Rejects a call: the model reads `reason` in place of an output.
    pub fn reject(&mut self, call_id: &str, reason: &str) -> Result<(), DecisionError> {
        self.decide(call_id, &Decision::Reject(reason.to_owned()))
    }

    /// Approves all calls of a tool in this run: those that wait, and those to come. The tool of a
    /// hosted MCP server has the name `LABEL.NAME`, with the label of the server.
    pub fn approve_always(&mut self, tool: &str) {
        self.decide_always(tool, Decision::Approve);
    }

    /// Rejects all calls of a tool in this run: those that wait for approval, and those to come.
    /// The model reads `reason` in place of their outputs.
    pub fn reject_always(&mut self, tool: &str, reason: &str) {
        self.decide_always(tool, Decision::Reject(reason.to_owned()));
    }

    /// Runs the tool of a call with an unknown outcome again.
    pub fn retry(&mut self, call_id: &str) -> Result<(), DecisionError> {
        self.decide(call_id, &Decision::Retry)
    }

    /// Gives a call with an unknown outcome the output that the application found out.
    pub fn supply(&mut self, call_id: &str, output: Item) -> Result<(), DecisionError> {
        self.decide(call_id, &Decision::Supply(output))
    }

    /// Applies a decision to a call, or to a call of the run inside another one.
    pub(crate) fn decide(
        &mut self,
        call_id: &str,
        decision: &Decision,
    ) -> Result<(), DecisionError> {
        match self.state.calls.find(call_id, |status| decision.fits(status)).cloned() {
            Some(call) => self.apply(&call, decision),
            None if self.state.calls.decide_inner(call_id, decision) => {}
            None => return Err(self.unfit_decision(call_id)),
        }
        self.advance();
        Ok(())
    }

    /// The error for a decision that does not fit the call.
    fn unfit_decision(&self, call_id: &str) -> DecisionError {
        let (calls, id) = (&self.state.calls, call_id.to_owned());
        let mut pauses = calls.iter().flat_map(OpenCall::pauses);
        match pauses.find(|pause| pause.call_id() == call_id) {
            Some(Pause::Approval(_)) => DecisionError::WaitsForApproval(id),
            Some(Pause::UnknownOutcome(_)) => DecisionError::OutcomeUnknown(id),
            None if calls.find(call_id, |_| true).is_some() => DecisionError::NotWaiting(id),
            None => DecisionError::NoSuchCall(id),
        }
    }

    fn apply(&mut self, call: &OpenCall, decision: &Decision) {
        let (key, calls) = (call.key(), &mut self.state.calls);
        match (decision, approval_response(&call.item, *decision == Decision::Approve)) {
            (Decision::Approve | Decision::Reject(_), Some(response)) => {
                calls.remove(&key);
                self.push(response);
            }
            (Decision::Approve | Decision::Retry, _) => {
                calls.change(&key, call.status, CallStatus::Ready);
            }
            (Decision::Reject(reason), None) => {
                calls.remove(&key);
                self.close(&call.item, reason);
            }
            (Decision::Supply(output), _) => {
                calls.remove(&key);
                self.take_output(call, output.clone());
            }
        }
    }

    fn decide_always(&mut self, tool: &str, decision: Decision) {
        self.add_standing([(tool.to_owned(), decision)]);
    }

    /// Adds decisions about all calls of a tool.
    pub(crate) fn add_standing(&mut self, decisions: impl IntoIterator<Item = (String, Decision)>) {
        self.state.standing.extend(decisions);
        self.apply_standing();
        self.advance();
    }

    /// The decisions about all calls of a tool, by its name.
    pub(crate) fn standing(&self) -> &BTreeMap<String, Decision> {
        &self.state.standing
    }

    /// Applies the decisions about all calls of a tool to those that wait.
    pub(super) fn apply_standing(&mut self) {
        let standing = self.state.standing.clone();
        if standing.is_empty() {
            return;
        }
        self.state.calls.apply_inner(|call| standing.get(&approval_name(call)));
        let waiting = self.state.calls.with_status(CallStatus::AwaitsApproval);
        let waiting: Vec<_> = waiting.cloned().collect();
        for call in waiting {
            if let Some(decision) = standing.get(&approval_name(&call.item)) {
                self.apply(&call, decision);
            }
        }
    }

    /// Records the result of [`Step::Check`](super::Step::Check).
    ///
    /// A rejected answer is not stored. A server's conversation has it already, and
    /// [`Step::Remove`](super::Step::Remove) deletes it there; a chain continues from the response
    /// before it.
    pub fn checked(&mut self, check: Check) {
        let Some(start) = self.state.unchecked.take() else { return };
        match check {
            Check::Passed => self.finish(),
            Check::Failed(error) => self.end(End::Failed { error }),
            Check::Again(feedback) => {
                self.state.has_repeated_answer = true;
                let content = quote(&feedback);
                let message = format!(r#"{{"role":"user","content":{content}}}"#);
                self.push(Item::parse(message.into()).expect("the text above is an item"));
                self.advance();
            }
            Check::Tripped(guardrail) => {
                let rejected = self.state.items.split_off(start);
                if let Some(answer) = self.state.answers.last_mut() {
                    answer.items = start..start;
                }
                match (&mut self.state.owner, self.state.before_answer.take()) {
                    (Owner::Server { tracker, .. }, Some(before)) => *tracker = before,
                    (Owner::Server { .. }, None) => self.state.rejected = rejected,
                    (Owner::Replay(_) | Owner::Session { .. }, _) => {}
                }
                self.end(End::Tripped { guardrail });
            }
        }
        self.state.before_answer = None;
    }

    /// Ends the run because a guardrail rejected its input while the model answered. The answer is
    /// not stored; a server's conversation has it, and [`Step::Remove`](super::Step::Remove)
    /// deletes it there.
    pub fn trip_answered(&mut self, guardrail: &str, answer: &ModelAnswer) {
        self.awaits_answer = false;
        let attempt = match &mut self.state.owner {
            Owner::Server { asking, .. } => asking.take(),
            Owner::Replay(_) | Owner::Session { .. } => None,
        };
        self.reject_answer(attempt, answer);
        self.trip(guardrail);
    }

    /// Leaves an answer out of the run, except its tokens.
    pub(super) fn reject_answer(&mut self, attempt: Option<Attempt>, answer: &ModelAnswer) {
        let (agent, end) = (self.state.agent.clone(), self.state.items.len());
        self.state.answers.push(AnswerRecord { agent, items: end..end, usage: answer.usage });
        let (Owner::Server { tracker, .. }, Some(attempt)) = (&mut self.state.owner, attempt)
        else {
            return;
        };
        if tracker.continuation().conversation_id().is_none() {
            tracker.rewind(attempt).expect("it is in flight");
        } else {
            tracker.accept(attempt, None, &answer.output).expect("it is in flight");
            self.state.rejected.clone_from(&answer.output);
        }
    }
}

/// The name of a call's tool in a decision about all its calls.
fn approval_name(call: &Item) -> String {
    let name = tool_name(call);
    match call.object().string("server_label") {
        Some(label) if call.head().kind == Kind::McpApprovalRequest => format!("{label}.{name}"),
        _ => name,
    }
}

/// The response to the request of a hosted tool for an approval; `None` for other calls.
fn approval_response(request: &Item, approve: bool) -> Option<Item> {
    let id =
        request.head().id.as_ref().filter(|_| request.head().kind == Kind::McpApprovalRequest)?;
    let id = quote(id.as_str());
    let kind = r#""type":"mcp_approval_response""#;
    let response = format!(r#"{{{kind},"approval_request_id":{id},"approve":{approve}}}"#);
    Some(Item::parse(response.into()).expect("the text above is an item"))
}

//! Decisions about calls: of tools, of the application, and of checks.

use antiphon::Item;
use antiphon::item::{CallKey, Kind};
use antiphon::json::quote;

use super::calls::{CallStatus, OpenCall};
use super::state::Owner;
use super::{Check, End, Machine};

/// A decision about a call that does not wait for one. Nothing changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the call '{0}' does not wait for this decision")]
pub struct DecisionError(pub String);

impl Machine {
    /// Records whether a call of [`Step::Review`](super::Step::Review) needs an approval.
    pub fn reviewed(&mut self, call: &CallKey, needs_approval: bool) {
        let status = match needs_approval {
            true => CallStatus::AwaitsApproval,
            false => CallStatus::Ready,
        };
        let is_it =
            |open: &&mut OpenCall| open.status == CallStatus::Unreviewed && open.key() == *call;
        if let Some(open) = self.state.calls.iter_mut().find(is_it) {
            open.status = status;
        }
    }

    /// Approves a call: its tool runs.
    pub fn approve(&mut self, call_id: &str) -> Result<(), DecisionError> {
        self.decide(
            call_id,
            &[CallStatus::AwaitsApproval],
            |machine, call| match approval_response(&call.item, true) {
                Some(response) => machine.push(response),
                None => machine.state.calls.push(OpenCall { status: CallStatus::Ready, ..call }),
            },
        )
    }

    /// Rejects a call: the model reads `reason` in place of an output.
    pub fn reject(&mut self, call_id: &str, reason: &str) -> Result<(), DecisionError> {
        let among = [CallStatus::AwaitsApproval, CallStatus::OutcomeUnknown];
        self.decide(call_id, &among, |machine, call| match approval_response(&call.item, false) {
            Some(response) => machine.push(response),
            None => machine.close(&call.item, reason),
        })
    }

    /// Runs the tool of a call with an unknown outcome again.
    pub fn retry(&mut self, call_id: &str) -> Result<(), DecisionError> {
        self.decide(call_id, &[CallStatus::OutcomeUnknown], |machine, call| {
            machine.state.calls.push(OpenCall { status: CallStatus::Ready, ..call });
        })
    }

    /// Gives a call with an unknown outcome the output that the application found out.
    pub fn supply(&mut self, call_id: &str, output: Item) -> Result<(), DecisionError> {
        self.decide(call_id, &[CallStatus::OutcomeUnknown], |machine, call| {
            machine.answer_call(&call.item, output);
        })
    }

    fn decide(
        &mut self,
        call_id: &str,
        among: &[CallStatus],
        apply: impl FnOnce(&mut Self, OpenCall),
    ) -> Result<(), DecisionError> {
        let error = || DecisionError(call_id.to_owned());
        let key = self.state.calls.find(call_id, among).ok_or_else(error)?.key();
        let call = self.state.calls.remove(&key).ok_or_else(error)?;
        apply(self, call);
        self.advance();
        Ok(())
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
                if let Owner::Server { .. } = &self.state.owner {
                    self.state.rejected = rejected;
                }
                self.end(End::Tripped { guardrail });
            }
        }
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

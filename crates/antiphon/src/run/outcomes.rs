//! Tools that run side by side, and their outputs in the model's order.

use super::answer_saying;
use crate::item::{CallKey, Item};

/// How a tool ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It has an output.
    Output(Item),
    /// It failed, and the model is told this.
    Failed(String),
    /// It failed in a way that ends the run.
    Raised(String),
    /// It was cancelled.
    Cancelled,
}

/// What an outcome asks of whoever runs the tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeEffect {
    /// Wait for the others.
    Wait,
    /// Cancel the others that still run, and wait until each of them has ended.
    CancelOthers,
    /// All have ended: settle.
    Settle,
}

/// A tool raised. Of several, it is the first in the model's order, whichever ended first.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{} '{}': {reason}", .call.kind, .call.call_id)]
pub struct ToolError {
    /// The call.
    pub call: CallKey,
    /// What its tool raised.
    pub reason: String,
    /// The outputs of the others that have one, in the model's order. Their tools had their effect:
    /// whoever owns the conversation still needs them.
    pub outputs: Vec<Item>,
}

/// The calls of one response, each with how its tool ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcomes {
    calls: Vec<(CallKey, Option<Outcome>)>,
}

impl Outcomes {
    /// The calls in the model's order. Their tools begin to run.
    pub fn begin(calls: impl IntoIterator<Item = CallKey>) -> Self {
        Self { calls: calls.into_iter().map(|call| (call, None)).collect() }
    }

    /// The tool of the call at `position` has ended. The first end of a tool counts.
    pub fn ended(&mut self, position: usize, outcome: Outcome) -> OutcomeEffect {
        let had_raised = self.has_raised();
        if let Some((_, slot @ None)) = self.calls.get_mut(position) {
            *slot = Some(outcome);
        }
        if self.have_ended() {
            OutcomeEffect::Settle
        } else if self.has_raised() && !had_raised {
            OutcomeEffect::CancelOthers
        } else {
            OutcomeEffect::Wait
        }
    }

    /// The outputs in the model's order; `None` while a tool runs. A call whose output cannot be
    /// made up, or that was cancelled by its caller, has none.
    pub fn settle(&self) -> Option<Result<Vec<Item>, ToolError>> {
        if !self.have_ended() {
            return None;
        }
        let outputs: Vec<_> = self.ended_calls().filter_map(output).collect();
        let raised = self.ended_calls().find_map(|(call, outcome)| match outcome {
            Outcome::Raised(reason) => Some((call.clone(), reason.clone())),
            Outcome::Output(_) | Outcome::Failed(_) | Outcome::Cancelled => None,
        });
        Some(match raised {
            Some((call, reason)) => Err(ToolError { call, reason, outputs }),
            None => Ok(outputs),
        })
    }

    fn have_ended(&self) -> bool {
        self.calls.iter().all(|(_, outcome)| outcome.is_some())
    }

    fn has_raised(&self) -> bool {
        self.ended_calls().any(|(_, outcome)| matches!(outcome, Outcome::Raised(_)))
    }

    fn ended_calls(&self) -> impl Iterator<Item = (&CallKey, &Outcome)> {
        self.calls.iter().filter_map(|(call, outcome)| Some((call, outcome.as_ref()?)))
    }
}

fn output((call, outcome): (&CallKey, &Outcome)) -> Option<Item> {
    match outcome {
        Outcome::Output(item) => Some(item.clone()),
        Outcome::Failed(reason) => answer_saying(call, reason),
        Outcome::Raised(_) | Outcome::Cancelled => None,
    }
}

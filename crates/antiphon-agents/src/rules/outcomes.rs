//! The outcomes of tools that run in parallel, with the outputs in the model's order.

use antiphon::item::{CallKey, Item};
use antiphon::placeholder::create_failed_output;
use antiphon::tracker::{Occurrence, RunFinished, Tracker};

/// The outcome of a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It has an output.
    Output(Item),
    /// It failed, and the model reads this text as its output.
    Failed(String),
    /// It failed in a way that ends the run.
    Raised(String),
    /// A guardrail ends the run.
    Tripped {
        /// The name of the guardrail.
        guardrail: String,
        /// The text that the conversation has in place of the output.
        text: String,
    },
    /// It was cancelled.
    Cancelled,
}

/// The action of the runner after an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeEffect {
    /// Wait for the others.
    Wait,
    /// Cancel the others that still run, and wait until each of them has ended.
    CancelOthers,
    /// All have ended: settle.
    Settle,
}

/// A tool raised an error. Of several, it is the first in the model's order, not the first in time.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{} '{}': {reason}", .call.kind, .call.call_id)]
pub struct ToolError {
    /// The call.
    pub call: CallKey,
    /// The error of its tool.
    pub reason: String,
    /// The outputs of the other tools that have one, in the model's order. These tools had their
    /// effect, so the conversation still needs their outputs.
    pub outputs: Vec<Item>,
}

/// The calls of one response, each with the outcome of its tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcomes {
    calls: Vec<(CallKey, Option<Outcome>)>,
}

impl Outcomes {
    /// Starts with the calls in the model's order, when their tools start to run.
    pub fn begin(calls: impl IntoIterator<Item = CallKey>) -> Self {
        Self { calls: calls.into_iter().map(|call| (call, None)).collect() }
    }

    /// Records the outcome of the call at `position`. Later outcomes of the same call are ignored.
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

    /// Returns the outputs in the model's order; `None` while a tool runs. A call has no output if
    /// it was cancelled by its caller, or if its kind has no placeholder output.
    pub fn settle(&self) -> Option<Result<Vec<Item>, ToolError>> {
        if !self.have_ended() {
            return None;
        }
        let outputs: Vec<_> = self.ended_calls().filter_map(output).collect();
        let raised = self.ended_calls().find_map(|(call, outcome)| match outcome {
            Outcome::Raised(reason) => Some((call.clone(), reason.clone())),
            _ => None,
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
        Outcome::Failed(text) | Outcome::Tripped { text, .. } => create_failed_output(call, text),
        Outcome::Raised(_) | Outcome::Cancelled => None,
    }
}

/// The result of [`settle`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settled {
    /// The outputs that were added.
    pub answered: Vec<Occurrence>,
    /// Calls that have no placeholder output. The conversation cannot continue until they are
    /// answered or deleted.
    pub left_open: Vec<CallKey>,
}

/// Adds an output with `text` for every call that the server has without an output. Otherwise the
/// provider would reject the next turn of the conversation.
///
/// Call it when a run stops between a call and its output, and before the first request after an
/// interruption. The tracker has to know the server's items: after an abort,
/// [`hydrate`](Tracker::hydrate) it first.
pub fn settle(tracker: &mut Tracker, text: &str) -> Result<Settled, RunFinished> {
    let mut settled = Settled::default();
    for call in tracker.unresolved().calls {
        match create_failed_output(&call.key, text) {
            Some(output) => settled.answered.push(tracker.add(output)?),
            None => settled.left_open.push(call.key),
        }
    }
    Ok(settled)
}

//! The end of a turn in its trace.

use std::borrow::Cow;

use antiphon::stream::Finished;

use super::{FinishedTurn, TurnEnd, TurnOutcome};
use crate::error::ApiError;
use crate::span::{ErrorType as _, TraceSpan};
use crate::trace::{ChatSpan, EndedTurnFacts};
use crate::turn::report::Report;
use crate::upstream::failure_type;

impl FinishedTurn<'_> {
    /// Records the end of the turn in its span.
    pub(super) fn record_in_span(&self) {
        if !self.trace.is_recording() {
            return;
        }
        if let TurnEnd::Refused(error) | TurnEnd::Unreadable(error) = self.end {
            return record_refusal(self.trace, error);
        }
        let error_type = self.error_type();
        self.trace.record_turn_end(&EndedTurnFacts {
            outcome: self.outcome().as_str(),
            error_type: error_type.as_deref(),
            response: self.response,
            received: self.items.received,
            output: self.items.output,
            repairs: self.repairs().collect(),
            ..self.report.map(facts).unwrap_or_default()
        });
    }

    /// The class of the error of a turn that failed.
    fn error_type(&self) -> Option<Cow<'_, str>> {
        match self.end {
            TurnEnd::Answered { not_stored: Some(error), .. } => Some(error.error_type()),
            TurnEnd::Answered { finished, .. } => answer_failure(finished).map(Cow::Borrowed),
            _ => (self.outcome() == TurnOutcome::Failed).then_some("_OTHER".into()),
        }
    }
}

/// Records the answer of the model.
pub(in crate::turn) fn record_answer(chat: &ChatSpan, finished: &Finished) {
    chat.record_answer(finished, answer_failure(finished));
}

/// Records that a history was compacted for a caller.
pub(in crate::turn) fn record_compaction(trace: &TraceSpan, report: &Report) {
    if trace.is_recording() {
        trace.record_turn_end(&EndedTurnFacts { outcome: "compacted", ..facts(report) });
    }
}

/// Records that a request was refused.
pub(in crate::turn) fn record_refusal(trace: &TraceSpan, error: &ApiError) {
    if trace.is_recording() {
        trace.record_refusal(&error.error_type(), error.status().is_client_error());
    }
}

/// The facts in the report of a turn.
fn facts(report: &Report) -> EndedTurnFacts<'static> {
    let (new, known) = report.new_and_known();
    EndedTurnFacts {
        received: report.input_items(),
        new: Some(new),
        known: Some(known),
        sent: report.sent_items(),
        truncated: report.truncated(),
        repairs: report.faults().collect(),
        retries: report.retries(),
        ..EndedTurnFacts::default()
    }
}

/// The class of the error of a failed answer.
fn answer_failure(finished: &Finished) -> Option<&str> {
    finished.failure.as_ref().map(|failure| failure_type(&failure.code))
}

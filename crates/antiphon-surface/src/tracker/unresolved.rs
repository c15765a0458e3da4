//! The state of occurrences, and obstacles to the next request.

use antiphon::tracker::{self as engine, Attempt};
use serde::Serialize;

use super::numbers;

/// Obstacles to the run's next request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unresolved {
    /// Calls on the server whose output is neither on the server nor in the tracker.
    pub calls: Vec<UnansweredCall>,
    /// Occurrences of outputs whose calls are not known to be on the server.
    pub outputs: Vec<u64>,
    /// Requests without an answer.
    pub attempts: Vec<u64>,
}

/// A call without an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnansweredCall {
    /// The call's item id.
    pub id: Option<String>,
    /// The kind of the call.
    pub kind: String,
    /// The id that links the call and its output.
    pub call_id: String,
}

/// The state of an occurrence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OccurrenceState {
    /// `pending`, `sent` or `accepted`.
    pub standing: &'static str,
    /// The request that contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u64>,
}

impl Unresolved {
    pub(super) fn from_engine(unresolved: engine::Unresolved) -> Self {
        Self {
            calls: unresolved.calls.iter().map(UnansweredCall::from_engine).collect(),
            outputs: numbers(&unresolved.outputs),
            attempts: unresolved.attempts.into_iter().map(Attempt::number).collect(),
        }
    }
}

impl UnansweredCall {
    fn from_engine(call: &engine::UnansweredCall) -> Self {
        Self {
            id: call.id.as_ref().map(ToString::to_string),
            kind: call.key.kind.as_str().to_owned(),
            call_id: call.key.call_id.to_string(),
        }
    }
}

impl OccurrenceState {
    pub(super) fn from_engine(standing: engine::OccurrenceState) -> Self {
        match standing {
            engine::OccurrenceState::Pending => Self { standing: "pending", attempt: None },
            engine::OccurrenceState::Sent(attempt) => {
                Self { standing: "sent", attempt: Some(attempt.number()) }
            }
            engine::OccurrenceState::Accepted => Self { standing: "accepted", attempt: None },
        }
    }
}

//! The state of occurrences, and obstacles to the next request.

use antiphon::tracker::{self as engine, Attempt};
use serde::Serialize;

use super::numbers;

/// Obstacles to the run's next request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unresolved {
    /// Calls on the server whose output is neither on the server nor in the tracker.
    pub calls: Vec<Unanswered>,
    /// Occurrences of outputs whose calls are not known to be on the server.
    pub outputs: Vec<u64>,
    /// Requests without an answer.
    pub attempts: Vec<u64>,
}

/// A call without an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unanswered {
    /// The call's item id.
    pub id: Option<String>,
    /// The kind of the call.
    pub kind: String,
    /// The id that links the call and its output.
    pub call_id: String,
}

/// The state of an occurrence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// `pending`, `sent` or `accepted`.
    pub standing: &'static str,
    /// The request that contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u64>,
}

impl Unresolved {
    pub(super) fn from_engine(unresolved: engine::Unresolved) -> Self {
        Self {
            calls: unresolved.calls.iter().map(Unanswered::from_engine).collect(),
            outputs: numbers(&unresolved.outputs),
            attempts: unresolved.attempts.into_iter().map(Attempt::number).collect(),
        }
    }
}

impl Unanswered {
    fn from_engine(call: &engine::Unanswered) -> Self {
        Self {
            id: call.id.as_ref().map(ToString::to_string),
            kind: call.key.kind.as_str().to_owned(),
            call_id: call.key.call_id.to_string(),
        }
    }
}

impl Standing {
    pub(super) fn from_engine(standing: engine::Standing) -> Self {
        match standing {
            engine::Standing::Pending => Self { standing: "pending", attempt: None },
            engine::Standing::Sent(attempt) => {
                Self { standing: "sent", attempt: Some(attempt.number()) }
            }
            engine::Standing::Accepted => Self { standing: "accepted", attempt: None },
        }
    }
}

//! How far things have come, and what stands in the way.

use antiphon::tracker::{self as engine, Attempt};
use serde::Serialize;

use super::numbers;

/// What stands between the run and its next request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unresolved {
    /// Calls that the server has, for which there is an output neither there nor here.
    pub calls: Vec<Unanswered>,
    /// Occurrences of outputs whose calls the server is not known to have.
    pub outputs: Vec<u64>,
    /// Requests that nobody answered.
    pub attempts: Vec<u64>,
}

/// A call that waits for its output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unanswered {
    /// The call's item id.
    pub id: Option<String>,
    /// The kind of the call.
    pub kind: String,
    /// By what its output will find it.
    pub call_id: String,
}

/// How far an occurrence has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// `pending`, `sent` or `accepted`.
    pub standing: &'static str,
    /// The request that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u64>,
}

impl Unresolved {
    pub(super) fn of(unresolved: engine::Unresolved) -> Self {
        Self {
            calls: unresolved.calls.iter().map(Unanswered::of).collect(),
            outputs: numbers(&unresolved.outputs),
            attempts: unresolved.attempts.into_iter().map(Attempt::number).collect(),
        }
    }
}

impl Unanswered {
    fn of(call: &engine::Unanswered) -> Self {
        Self {
            id: call.id.as_ref().map(ToString::to_string),
            kind: call.key.kind.as_str().to_owned(),
            call_id: call.key.call_id.to_string(),
        }
    }
}

impl Standing {
    pub(super) fn of(standing: engine::Standing) -> Self {
        match standing {
            engine::Standing::Pending => Self { standing: "pending", attempt: None },
            engine::Standing::Sent(attempt) => {
                Self { standing: "sent", attempt: Some(attempt.number()) }
            }
            engine::Standing::Accepted => Self { standing: "accepted", attempt: None },
        }
    }
}

//! The reasons why a run cannot continue.

use super::RunResult;
use crate::session::SessionError;
use crate::team::TeamError;

/// The reason why a run cannot continue. Its state is not lost: start it again, or resume it.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The agents do not fit together.
    #[error(transparent)]
    Team(#[from] TeamError),
    /// The session store failed.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The run waits for decisions.
    #[error("the run waits for a decision about the call '{0}': `Run::waiting` lists such calls")]
    Waiting(String),
    /// The state to resume has a session, and no store was given.
    #[error("the state of the run has the session '{0}': give `Run::resume` its store")]
    NoSessionStore(String),
    /// The session of the state to resume had items, and the store that was given has none.
    #[error(
        "the session '{0}' is empty, but the run had stored items in it: resume it with its own \
         store"
    )]
    EmptySession(String),
    /// A session store was given, and the state to resume has another owner.
    #[error("the state of the run has no session: give `Run::resume` no session store")]
    NoSession,
    /// The run ended, but not with an answer: it failed, was cancelled or rejected, or reached a
    /// limit.
    #[error("the run ended without an answer: {}", .0.end())]
    NoAnswer(Box<RunResult>),
}

debug_as_text!(RunError);

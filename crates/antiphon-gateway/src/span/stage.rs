//! The stages of a turn, as spans.

use std::borrow::Cow;

use opentelemetry::trace::SpanBuilder;

use super::handle::TraceSpan;

/// A stage of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Find the place of the turn and acquire the lease of its conversation.
    Open,
    /// Read the transcript from the store.
    Load,
    /// List the items that the upstream owns, because the ledger is stale or missing.
    Sync,
    /// Find the new items, repair the rest and build the prompt.
    Reconcile,
    /// Write a summary of a history that is too long.
    Compact,
    /// Send the request, until the upstream begins to answer.
    Send,
    /// Pass the answer on.
    Stream,
    /// Store the turn.
    Commit,
}

impl Stage {
    /// The name of its span.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Load => "load",
            Self::Sync => "sync",
            Self::Reconcile => "reconcile",
            Self::Compact => "compact",
            Self::Send => "send",
            Self::Stream => "stream",
            Self::Commit => "commit",
        }
    }
}

/// The span of a stage. It ends when it is closed or dropped.
pub(crate) struct StageSpan(TraceSpan);

/// An error with a class for [`StageSpan::close`].
pub(crate) trait ErrorType {
    /// The class of the error: a short name, never a text of the request.
    fn error_type(&self) -> Cow<'_, str>;
}

impl TraceSpan {
    /// Begins a stage.
    pub(crate) fn stage(&self, stage: Stage) -> StageSpan {
        StageSpan(self.child(|| SpanBuilder::from_name(stage.name())))
    }
}

impl StageSpan {
    /// Ends the stage with this result.
    pub(crate) fn close<T, E: ErrorType>(self, result: Result<T, E>) -> Result<T, E> {
        if self.0.is_recording()
            && let Err(error) = &result
        {
            self.0.fail(&error.error_type());
        }
        result
    }

    /// The span, as the parent of the requests of the stage.
    pub(crate) fn span(&self) -> &TraceSpan {
        &self.0
    }
}

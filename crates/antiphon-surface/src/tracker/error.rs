//! Errors of a tracker.

use antiphon::tracker::{ConflictingOptions, NotInFlight, RunFinished, SendError};

use crate::InvalidArgument;

/// The reason why a tracker refuses an operation. The tracker is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrackerError {
    /// An argument is not an array of items.
    #[error(transparent)]
    InvalidArgument(#[from] InvalidArgument),
    /// The options are invalid.
    #[error("options: {0}")]
    Options(String),
    /// The options name two owners of the state.
    #[error("{}", conflict(.0))]
    ConflictingOptions(#[from] ConflictingOptions),
    /// The options name no state of a server.
    #[error(
        "no server owns the state: give conversation, previous_response_id or \
         auto_previous_response_id, or send the whole history"
    )]
    NoServerState,
    /// The filter did not return an array of items with their occurrences.
    #[error("returned: {0}")]
    Returned(String),
    /// The response is not a JSON object with an id or an output.
    #[error("response: {0}")]
    Response(String),
    /// The response failed, so the server stored neither its input nor its output.
    #[error("the response failed: call rewind instead of accept")]
    FailedResponse,
    /// The request must not be sent like this.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The attempt has ended, or never began.
    #[error(transparent)]
    NotInFlight(#[from] NotInFlight),
    /// The run has ended.
    #[error(transparent)]
    RunFinished(#[from] RunFinished),
    /// The snapshot is invalid.
    #[error("snapshot: {0}")]
    Snapshot(String),
}

impl TrackerError {
    /// The error's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::InvalidArgument(_) | Self::Returned(_) | Self::Response(_) => "unreadable",
            Self::Options(_) => "options",
            Self::FailedResponse => "failed",
            Self::ConflictingOptions(_) => "conflicting_options",
            Self::NoServerState => "no_server_state",
            Self::Send(SendError::NotPlanned(_)) => "not_planned",
            Self::Send(SendError::Twice(_)) => "twice",
            Self::Send(SendError::AmbiguousRebuild(_)) => "ambiguous_rebuild",
            Self::NotInFlight(_) => "not_in_flight",
            Self::RunFinished(_) => "finished",
            Self::Snapshot(_) => "snapshot",
        }
    }
}

/// The conflict, with the option names of this crate.
fn conflict(conflict: &ConflictingOptions) -> String {
    match conflict {
        ConflictingOptions::ConversationWithChain { option } => {
            format!("conversation cannot be combined with {option}")
        }
        other @ ConflictingOptions::SessionWithServerState { .. } => other.to_string(),
    }
}

//! Why a tracker does not do what it is asked.

use antiphon::tracker::{ConflictingOptions, Finished, NotInFlight, SendError};

use crate::Unreadable;

/// Why a tracker does not do what it is asked. Nothing changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrackerError {
    /// An argument is no array of items.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The options are none.
    #[error("options: {0}")]
    Options(String),
    /// Two owners of the state were asked for.
    #[error("{}", conflict(.0))]
    ConflictingOptions(#[from] ConflictingOptions),
    /// The options name no state that a server owns.
    #[error(
        "no server owns the state: give conversation, previous_response_id or \
         auto_previous_response_id, or send the whole history"
    )]
    NoServerState,
    /// What was returned is no array of items with their occurrences.
    #[error("returned: {0}")]
    Returned(String),
    /// The response is no JSON object.
    #[error("response: {0}")]
    Response(String),
    /// The request may not go as it is.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The attempt has ended, or was never begun.
    #[error(transparent)]
    NotInFlight(#[from] NotInFlight),
    /// The run has ended.
    #[error(transparent)]
    Finished(#[from] Finished),
    /// The snapshot is none.
    #[error("snapshot: {0}")]
    Snapshot(String),
}

impl TrackerError {
    /// The error's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Unreadable(_) | Self::Returned(_) | Self::Response(_) => "unreadable",
            Self::Options(_) => "options",
            Self::ConflictingOptions(_) => "conflicting_options",
            Self::NoServerState => "no_server_state",
            Self::Send(SendError::NotPlanned(_)) => "not_planned",
            Self::Send(SendError::Twice(_)) => "twice",
            Self::Send(SendError::AmbiguousRebuild(_)) => "ambiguous_rebuild",
            Self::NotInFlight(_) => "not_in_flight",
            Self::Finished(_) => "finished",
            Self::Snapshot(_) => "snapshot",
        }
    }
}

/// The conflict, in the options' names here.
fn conflict(conflict: &ConflictingOptions) -> String {
    match conflict {
        ConflictingOptions::SessionWithServerState { option } => {
            let option = if *option == "conversation_id" { "conversation" } else { option };
            format!("a session cannot be combined with {option}: one of the two owns the history")
        }
        ConflictingOptions::ConversationWithChain { option } => {
            format!("conversation cannot be combined with {option}")
        }
    }
}

//! What a server that keeps state says of a request that does not fit what it keeps.

use super::error::UpstreamError;

/// Why a request does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StateError {
    /// It holds an item of this id already.
    DuplicateItem(String),
    /// It holds a call that nobody answered.
    UnansweredCall(String),
    /// It holds no call that this output answers.
    OutputWithoutCall(String),
    /// Reasoning that nothing follows.
    LoneReasoning(String),
    /// An item without the reasoning that it was made with.
    WithoutReasoning {
        /// The item.
        item: String,
        /// The reasoning.
        reasoning: String,
    },
    /// It holds no item of this id.
    UnknownItem(String),
    /// A turn of the conversation is open.
    Locked,
    /// It has no such response to go on from.
    UnknownResponse,
}

impl UpstreamError {
    /// What it says of the state, if that is what it refused.
    pub(crate) fn state_error(&self) -> Option<StateError> {
        None
    }
}

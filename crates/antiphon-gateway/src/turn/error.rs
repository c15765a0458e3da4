//! The reasons for a turn that ends early.

use crate::error::ApiError;

/// The reason for a turn that ends before its answer begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TurnError {
    /// The request cannot be answered. The client receives this error.
    Failed(ApiError),
    /// Nobody waits for the answer any more, so nobody receives an error.
    Cancelled(CancelReason),
}

/// The reason why nobody waits for the rest of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CancelReason {
    /// The client disconnected, or the gateway is closing. For a background turn: this process
    /// cannot continue it.
    Left,
    /// A background turn was cancelled.
    Cancelled,
    /// The conversation was deleted.
    ConversationDeleted,
}

impl<E: Into<ApiError>> From<E> for TurnError {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

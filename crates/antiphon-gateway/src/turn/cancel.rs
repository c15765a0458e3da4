//! Ends a turn early: on an error, or because nobody waits for its answer any more.

use std::borrow::Cow;
use std::pin::Pin;

use super::client::Client;
use super::context::Turn;
use super::open::Opened;
use crate::error::ApiError;
use crate::settings::OnDisconnect;
use crate::span::ErrorType;

/// The reason for a turn that ends before its answer begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TurnError {
    /// The request cannot be answered. The client receives this error.
    Failed(ApiError),
    /// Nobody waits for the answer any more, so nobody receives an error.
    Cancelled(CancelReason),
}

impl<E: Into<ApiError>> From<E> for TurnError {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl ErrorType for TurnError {
    fn error_type(&self) -> Cow<'_, str> {
        match self {
            Self::Failed(error) => error.error_type(),
            Self::Cancelled(reason) => reason.name().into(),
        }
    }
}

/// The reason why nobody waits for the rest of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CancelReason {
    /// The client disconnected, or the gateway is closing. For a background turn: this process
    /// cannot continue it.
    Disconnected,
    /// A background turn was cancelled.
    Cancelled,
    /// A request ended the turn.
    Ended,
    /// The conversation was deleted.
    ConversationDeleted,
}

impl CancelReason {
    /// Its name in spans.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Disconnected => "disconnected",
            Self::Cancelled => "cancelled",
            Self::Ended => "ended",
            Self::ConversationDeleted => "conversation_deleted",
        }
    }
}

/// Awaits `future` unless nobody waits for the answer any more. Fails if a request ended the turn
/// or deleted its conversation. The caller has pinned `future`: this one would contain it twice.
pub(super) async fn run_unless_cancelled<T, E: Into<ApiError>>(
    turn: &Turn<'_>,
    future: Pin<&mut impl Future<Output = Result<T, E>>>,
    opened: &Opened,
    client: &mut Client,
) -> Result<T, TurnError> {
    tokio::select! {
        result = future => Ok(result?),
        reason = cancelled(turn, opened, client) => Err(match reason {
            CancelReason::Ended => ApiError::TurnEnded.into(),
            CancelReason::ConversationDeleted => ApiError::ConversationDeleted.into(),
            reason => TurnError::Cancelled(reason),
        }),
    }
}

/// Waits until nobody waits for the rest of the answer: a request ended the turn or deleted its
/// conversation, the gateway is closing, or the client has disconnected under
/// [`OnDisconnect::Settle`]. A background turn ends early if it is cancelled or if its log has
/// failed.
pub(super) async fn cancelled(
    turn: &Turn<'_>,
    opened: &Opened,
    client: &mut Client,
) -> CancelReason {
    let settles = turn.gateway.settings.on_disconnect == OnDisconnect::Settle;
    tokio::select! {
        reason = client.cancelled(), if settles || turn.request.background => reason,
        () = turn.gateway.closing.cancelled() => CancelReason::Disconnected,
        () = opened.ended() => CancelReason::Ended,
        () = opened.conversation_deleted() => CancelReason::ConversationDeleted,
    }
}

//! Waits for the client of a turn, which may disconnect at any time.

use super::client::Client;
use super::context::Turn;
use super::error::{CancelReason, TurnError};
use super::open::Opened;
use crate::error::ApiError;
use crate::settings::OnDisconnect;

impl Turn<'_> {
    /// Awaits `future` while somebody waits for the answer. The turn is cancelled when nobody does.
    pub(super) async fn unless_cancelled<T, E: Into<ApiError>>(
        &self,
        future: impl Future<Output = Result<T, E>>,
        opened: &Opened,
        client: &mut Client,
    ) -> Result<T, TurnError> {
        tokio::select! {
            result = future => Ok(result?),
            reason = self.client_left(client) => Err(TurnError::Cancelled(reason)),
            () = opened.conversation_deleted() => Err(ApiError::ConversationDeleted.into()),
        }
    }

    /// Waits until nobody waits for the rest of the answer.
    pub(super) async fn cancelled(&self, opened: &Opened, client: &mut Client) -> CancelReason {
        tokio::select! {
            reason = self.client_left(client) => reason,
            () = opened.conversation_deleted() => CancelReason::ConversationDeleted,
        }
    }

    /// Waits until the turn must end early: the gateway is closing, or the client has disconnected
    /// under [`OnDisconnect::Settle`]. A background turn ends early if it is cancelled
    /// or if its log has failed.
    async fn client_left(&self, client: &mut Client) -> CancelReason {
        let settles = self.gateway.settings.on_disconnect == OnDisconnect::Settle;
        tokio::select! {
            reason = client.cancelled(), if settles || self.request.background => reason,
            () = self.gateway.closing.cancelled() => CancelReason::Left,
        }
    }
}

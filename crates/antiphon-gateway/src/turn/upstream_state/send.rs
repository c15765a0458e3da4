//! Sends the request to the upstream.

use antiphon::provider_api::depends_on_state;
use http::StatusCode;

use super::UpstreamTurn;
use super::plan::Plan;
use crate::error::ApiError;
use crate::turn::Client;
use crate::turn::cancel::{TurnError, run_unless_cancelled};
use crate::turn::encode;
use crate::turn::open::Opened;
use crate::upstream::{Reply, RetrySession, UpstreamError};

impl UpstreamTurn<'_> {
    /// Records the opening and marks the ledger stale, and only then sends the request. If this
    /// process dies at any time before the commit, the next turn therefore resyncs the ledger.
    pub(super) async fn ask(
        &self,
        opened: &Opened,
        plan: &Plan,
        asking: &mut RetrySession<'_>,
        client: &mut Client,
    ) -> Result<Reply, TurnError> {
        let sent = match self.record(opened, plan).await {
            Ok(()) => {
                let sent = async { Ok::<_, ApiError>(self.send(plan, asking).await) };
                run_unless_cancelled(self.turn, sent, opened, client).await
            }
            Err(error) => Err(error.into()),
        };
        match &sent {
            Ok(Err(error)) if may_have_begun(error) => self.abandon(opened, plan).await,
            Ok(Err(_)) | Err(TurnError::Failed(_)) => self.drop_pending_turn(opened).await,
            Ok(Ok(_)) | Err(TurnError::Cancelled(_)) => {}
        }
        let sent = sent.and_then(|sent| Ok(sent?));
        if let Err(TurnError::Failed(ApiError::Upstream(rejection))) = &sent
            && !depends_on_state(rejection.status.as_u16())
        {
            self.mark_fresh(opened).await;
        }
        sent
    }

    async fn record(&self, opened: &Opened, plan: &Plan) -> Result<(), ApiError> {
        let (opening, doubt) =
            tokio::join!(self.record_pending_turn(opened, plan), self.mark_stale(opened));
        opening.and(doubt)
    }

    /// Sends the request, and repeats it only if the upstream has surely not started it. An
    /// upstream that owns state could otherwise store the input twice.
    async fn send(
        &self,
        plan: &Plan,
        asking: &mut RetrySession<'_>,
    ) -> Result<Reply, UpstreamError> {
        let body =
            encode::encode_unchanged(self.turn.request, &plan.sent, plan.continue_from.previous());
        loop {
            match asking.send(body.clone(), self.turn.caller).await {
                Err(error) if has_not_begun(&error) && asking.backoff(&error).await => {}
                answer => return answer,
            }
        }
    }
}

/// Whether the same request may be sent again, because it has surely not started. 503 is not such
/// an error: proxies use it for connections that were reset after the request began.
fn has_not_begun(error: &UpstreamError) -> bool {
    match error {
        UpstreamError::Unreachable(_) => true,
        UpstreamError::Rejected(rejection) => rejection.status == StatusCode::TOO_MANY_REQUESTS,
        _ => false,
    }
}

/// Whether the upstream may have stored the turn although no answer arrived.
fn may_have_begun(error: &UpstreamError) -> bool {
    match error {
        UpstreamError::Rejected(rejection) => {
            rejection.status.is_server_error() && !has_not_begun(error)
        }
        UpstreamError::Unreachable(_) | UpstreamError::Busy | UpstreamError::TooLong(_) => false,
        UpstreamError::FirstByteTimeout(_)
        | UpstreamError::IdleTimeout(_)
        | UpstreamError::TotalTimeout(_)
        | UpstreamError::BrokeOff
        | UpstreamError::UnexpectedAnswer(_)
        | UpstreamError::TooLarge(_)
        | UpstreamError::Failed(_) => true,
    }
}

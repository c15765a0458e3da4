//! Sending what is new.

use http::StatusCode;

use super::Theirs;
use super::plan::Plan;
use crate::error::ApiError;
use crate::refused::Refused;
use crate::turn::Client;
use crate::turn::encode;
use crate::turn::open::Opened;
use crate::turn::relay::Unwanted;
use crate::upstream::{Asking, Reply, UpstreamError};

impl Theirs<'_> {
    /// Records that the upstream may come to hold more than is known, and only then sends the request:
    /// whatever becomes of this process, the next turn knows that it has to ask. Or why nobody wants the
    /// answer any more, before it began.
    pub(super) async fn ask(
        &self,
        opened: &Opened,
        plan: &Plan,
        asking: &mut Asking<'_>,
        client: &mut Client,
    ) -> Result<Result<Reply, Unwanted>, ApiError> {
        let sent = match self.record(opened, plan).await {
            Ok(()) => {
                let sent = async { Ok(self.send(plan, asking).await) };
                self.turn.while_wanted(sent, opened, client).await
            }
            Err(error) => Err(error),
        };
        match &sent {
            Ok(Ok(Err(error))) if may_have_begun(error) => self.leave(opened, plan).await,
            Ok(Ok(Err(_))) | Err(_) => self.drop_opening(opened).await,
            Ok(Ok(Ok(_)) | Err(_)) => {}
        }
        let sent = match sent {
            Ok(Ok(reply)) => reply.map(Ok).map_err(ApiError::from),
            Ok(Err(unwanted)) => Ok(Err(unwanted)),
            Err(error) => Err(error),
        };
        if let Err(ApiError::Upstream(refused)) = &sent
            && has_changed_nothing(refused)
        {
            self.trust(opened).await;
        }
        sent
    }

    async fn record(&self, opened: &Opened, plan: &Plan) -> Result<(), ApiError> {
        let (opening, doubt) = tokio::join!(self.record_opening(opened, plan), self.doubt(opened));
        opening.and(doubt)
    }

    /// Sends the request, and sends it again where it surely did not begin. An upstream that keeps
    /// state may keep what it took twice.
    async fn send(&self, plan: &Plan, asking: &mut Asking<'_>) -> Result<Reply, UpstreamError> {
        let body = encode::as_it_came(self.turn.request, &plan.sent, plan.footing.previous());
        loop {
            match asking.send(body.clone(), self.turn.caller).await {
                Err(error) if is_untouched(&error) && asking.may_ask_again(&error).await => {}
                answer => return answer,
            }
        }
    }
}

/// How an upstream answers that has begun nothing. One that is unavailable may have begun: so say proxies
/// of connections that were reset.
const UNTOUCHED: [StatusCode; 1] = [StatusCode::TOO_MANY_REQUESTS];

/// What an upstream refuses whatever it holds. What else it refuses may show that it holds something else
/// than is known.
const WHATEVER_IT_HOLDS: [StatusCode; 3] =
    [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN, StatusCode::PAYLOAD_TOO_LARGE];

/// Whether the same request may be sent again: it surely did not begin.
fn is_untouched(error: &UpstreamError) -> bool {
    match error {
        UpstreamError::Unreachable(_) => true,
        UpstreamError::Refused(refused) => UNTOUCHED.contains(&refused.status),
        _ => false,
    }
}

/// Whether the turn may be there, although the answer did not come.
fn may_have_begun(error: &UpstreamError) -> bool {
    match error {
        UpstreamError::Refused(refused) => refused.status.is_server_error() && !is_untouched(error),
        UpstreamError::Unreachable(_) | UpstreamError::Busy | UpstreamError::TooLong(_) => false,
        UpstreamError::Silent(_)
        | UpstreamError::Stalled(_)
        | UpstreamError::Unending(_)
        | UpstreamError::BrokeOff
        | UpstreamError::Garbled(_)
        | UpstreamError::TooLarge(_)
        | UpstreamError::Failed(_) => true,
    }
}

/// Whether the upstream holds what it held before it refused.
fn has_changed_nothing(refused: &Refused) -> bool {
    UNTOUCHED.iter().chain(&WHATEVER_IT_HOLDS).any(|status| *status == refused.status)
}

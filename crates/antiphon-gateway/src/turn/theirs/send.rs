//! Sending what is new.

use std::pin::pin;

use futures_util::future::maybe_done;
use http::StatusCode;

use super::Theirs;
use super::plan::Plan;
use crate::error::ApiError;
use crate::turn::Client;
use crate::turn::encode;
use crate::turn::open::Opened;
use crate::turn::relay::Unwanted;
use crate::upstream::{Asking, Refused, Reply, UpstreamError};

impl Theirs<'_> {
    /// Records that the upstream may come to hold more than is known, and sends the request, both at
    /// once; or why nobody wants the answer any more, before it began.
    pub(super) async fn ask(
        &self,
        opened: &Opened,
        plan: &Plan,
        asking: &mut Asking<'_>,
        client: &mut Client,
    ) -> Result<Result<Reply, Unwanted>, ApiError> {
        let mut recording = pin!(maybe_done(self.record(opened, plan)));
        let sent = async { tokio::join!(recording.as_mut(), self.send(plan, asking)).1 };
        let sent = self.turn.while_wanted(sent, opened, client).await;
        // A store ends what it has begun, whoever waits: before that there is nothing to drop.
        recording.as_mut().await;
        let recorded = recording.as_mut().take_output().expect("it was waited for");
        if recorded.is_err() {
            // The request may be there all the same.
            self.doubt_later(opened);
        }
        if recorded.is_err() || sent.is_err() {
            self.drop_opening(opened).await;
        }
        if let (Ok(()), Err(ApiError::Upstream(refused))) = (&recorded, &sent)
            && has_changed_nothing(refused)
        {
            self.trust(opened).await;
        }
        recorded.and(sent)
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

/// How an upstream answers that has begun nothing.
const UNTOUCHED: [StatusCode; 2] = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];

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

/// Whether the upstream holds what it held before it refused.
fn has_changed_nothing(refused: &Refused) -> bool {
    UNTOUCHED.iter().chain(&WHATEVER_IT_HOLDS).any(|status| *status == refused.status)
}

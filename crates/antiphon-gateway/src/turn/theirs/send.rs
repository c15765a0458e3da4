//! Sending what is new.

use std::pin::pin;

use futures_util::future::maybe_done;
use http::StatusCode;

use super::Theirs;
use super::plan::Plan;
use super::replay::Footing;
use crate::error::ApiError;
use crate::turn::Client;
use crate::turn::encode;
use crate::turn::open::Opened;
use crate::turn::relay::Unwanted;
use crate::upstream::{Asking, Reply, UpstreamError};

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
        if recorded.is_err() || !matches!(sent, Ok(Ok(_))) {
            self.drop_opening(opened).await;
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
        let body =
            encode::as_it_came(self.turn.request, &plan.sent, plan.footing == Footing::AsAsked);
        loop {
            match asking.send(body.clone(), self.turn.caller).await {
                Err(error) if is_untouched(&error) && asking.may_ask_again(&error).await => {}
                answer => return answer,
            }
        }
    }
}

/// Whether an upstream that says so has begun nothing.
fn is_untouched(error: &UpstreamError) -> bool {
    match error {
        UpstreamError::Unreachable(_) | UpstreamError::Busy => true,
        UpstreamError::Refused(refused) => {
            [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE]
                .contains(&refused.status)
        }
        _ => false,
    }
}

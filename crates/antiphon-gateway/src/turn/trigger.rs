//! Reads an upstream's answer to a compaction trigger.

use std::pin::pin;

use antiphon::stream::Finished;

use super::cancel::{TurnError, run_unless_cancelled};
use super::client::Client;
use super::compact::has_compaction;
use super::sending::SendingTurn;
use super::summary::reader;
use crate::span::ErrorType as _;
use crate::upstream::{Reply, UpstreamError};

impl SendingTurn<'_> {
    /// The upstream's compaction as a whole answer; `None` if the answer is no compaction. The
    /// client receives nothing of such an answer: clients fail if a trigger returns anything else.
    pub(super) async fn read_compaction(
        &mut self,
        reply: Reply,
        client: &mut Client,
    ) -> Result<Option<Reply>, TurnError> {
        let Self { sender, opened, plan, .. } = self;
        let planner = sender.planner;
        let answered = async {
            let mut reply = reply;
            loop {
                match reader(planner, plan).read_to_end(reply).await {
                    Err(error) if sender.backoff(&error).await => {
                        reply = sender.send(plan).await?.report_in(plan);
                    }
                    answered => return answered,
                }
            }
        };
        let finished: Result<Finished, _> =
            run_unless_cancelled::<_, UpstreamError>(planner.turn, pin!(answered), opened, client)
                .await;
        let finished = match finished {
            Ok(finished) => finished,
            Err(error) => {
                self.sender.chat().fail(&error.error_type());
                self.pending.discard().await;
                return Err(error);
            }
        };
        if has_compaction(&finished) {
            return Ok(Some(Reply::Whole(finished.response.into())));
        }
        self.pending.discard().await;
        Ok(None)
    }
}

//! The events of one turn, for its lane.

use std::sync::Arc;

use antiphon::stream::Event;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use tracing::Instrument as _;

use super::client_event::Create;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::lane::StreamId;
use crate::request_id::RequestId;
use crate::trace::lane_span;
use crate::turn::{self, Answer, EventReceiver};

/// An event on a lane.
#[derive(Debug)]
pub(super) enum LaneEvent {
    /// An event of its turn.
    Event(Event),
    /// An error: the turn has no events, or no more events.
    Refused(RequestId, ApiError),
    /// The turn has ended.
    Over,
}

/// The events of all lanes.
pub(super) type LaneEvents = BoxStream<'static, (Option<StreamId>, LaneEvent)>;

/// The progress of a turn.
///
/// ```text
/// RetrySession ──> Telling ── last event ──> (over) ──> Ended
///    └─ rejected ┴── cut off ──> Over ──────────────^
/// ```
enum Progress {
    RetrySession(BoxFuture<'static, Result<Answer, ApiError>>),
    Telling(EventReceiver),
    Over,
    Ended,
}

/// Starts a turn and returns its events. Dropping the stream counts as a disconnect from the turn.
pub(super) fn exchange(gateway: &Arc<Gateway>, caller: &Caller, create: Create) -> LaneEvents {
    let stream = create.stream;
    let request_id = RequestId::issue();
    let span = lane_span(&request_id, &caller.request_id, caller.tenant.as_str());
    let caller = Caller { request_id: request_id.clone(), ..caller.clone() };
    let asking = match gateway.limiter.permit_turn(&caller.tenant) {
        Ok(permit) => {
            let answer = turn::answer(Arc::clone(gateway), caller, create.request, permit);
            answer.instrument(span).boxed()
        }
        Err(error) => async { Err(error) }.boxed(),
    };
    let heard = stream::unfold(Progress::RetrySession(asking), move |progress| {
        next(progress, request_id.clone())
    });
    heard.map(move |heard| (stream.clone(), heard)).boxed()
}

async fn next(mut progress: Progress, id: RequestId) -> Option<(LaneEvent, Progress)> {
    loop {
        progress = match progress {
            Progress::RetrySession(answer) => match answer.await {
                Ok(Answer::Stream(_, events)) => Progress::Telling(events),
                Ok(Answer::Whole(..)) => return Some((cut_off(id), Progress::Over)),
                Err(error) => return Some((LaneEvent::Refused(id, error), Progress::Over)),
            },
            Progress::Telling(mut events) => {
                return Some(match events.recv().await {
                    Some(told) => match told.into_event() {
                        Some(event) => (LaneEvent::Event(event), Progress::Telling(events)),
                        None => (LaneEvent::Over, Progress::Ended),
                    },
                    None => (cut_off(id), Progress::Over),
                });
            }
            Progress::Over => return Some((LaneEvent::Over, Progress::Ended)),
            Progress::Ended => return None,
        };
    }
}

/// The error for a stream without a last event: the turn failed inside the gateway.
fn cut_off(id: RequestId) -> LaneEvent {
    LaneEvent::Refused(id, ApiError::Panicked)
}

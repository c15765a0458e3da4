//! The events of one turn, for its lane.

use std::sync::Arc;

use antiphon::stream::Event;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt};
use tracing::Instrument as _;

use super::client_event::CreateEvent;
use crate::caller::Caller;
use crate::error::ApiError;
use crate::gateway::Gateway;
use crate::lane::StreamId;
use crate::request_id::RequestId;
use crate::trace::{ConnectionTrace, lane_span, record_trace};
use crate::turn::{self, Answer, OutgoingEvent};

/// An event on a lane.
#[derive(Debug)]
pub(super) enum LaneEvent {
    /// An event of its turn.
    Event(Event),
    /// An error: the turn has no events, or no more events.
    Refused(RequestId, ApiError),
    /// The turn has ended.
    Ended,
}

/// The events of all lanes.
pub(super) type LaneEvents = BoxStream<'static, (Option<StreamId>, LaneEvent)>;

/// The progress of a turn.
///
/// ```text
/// Waiting ──> Streaming ── last event ──> Ended
///    └─ rejected ─┴── incomplete ──> Closing ──^
/// ```
enum Progress {
    Waiting(BoxFuture<'static, Result<Answer, ApiError>>),
    Streaming(BoxStream<'static, OutgoingEvent>),
    Closing,
    Ended,
}

/// Starts a turn and returns its events. Dropping the stream counts as a disconnect from the turn.
pub(super) fn lane_events(
    gateway: &Arc<Gateway>,
    (caller, connection): (&Caller, &ConnectionTrace),
    create: CreateEvent,
) -> LaneEvents {
    let stream = create.stream;
    let request_id = RequestId::issue();
    let span = lane_span(&request_id, &connection.request_id, caller.tenant.as_str());
    let mut caller = Caller { request_id: request_id.clone(), ..caller.clone() };
    let trace = gateway.tracer.begin_lane_turn(&mut caller, &create.request, connection);
    record_trace(&span, trace);
    let answer = match gateway.limiter.permit_turn(&caller.tenant) {
        Ok(permit) => {
            let answer = turn::answer(Arc::clone(gateway), caller, create.request, permit);
            answer.instrument(span).boxed()
        }
        Err(error) => {
            caller.trace.record_refusal(error.code(), true);
            async { Err(error) }.boxed()
        }
    };
    let events = stream::unfold(Progress::Waiting(answer), move |progress| {
        next(progress, request_id.clone())
    });
    events.map(move |event| (stream.clone(), event)).boxed()
}

async fn next(mut progress: Progress, id: RequestId) -> Option<(LaneEvent, Progress)> {
    loop {
        progress = match progress {
            Progress::Waiting(answer) => match answer.await {
                Ok(Answer::Stream(_, events)) => Progress::Streaming(events.into_stream().boxed()),
                Ok(Answer::Whole(..)) => return Some((incomplete(id), Progress::Closing)),
                Err(error) => return Some((LaneEvent::Refused(id, error), Progress::Closing)),
            },
            Progress::Streaming(mut events) => {
                return Some(match events.next().await {
                    Some(event) => match event.into_event() {
                        Some(event) => (LaneEvent::Event(event), Progress::Streaming(events)),
                        None => (LaneEvent::Ended, Progress::Ended),
                    },
                    None => (incomplete(id), Progress::Closing),
                });
            }
            Progress::Closing => return Some((LaneEvent::Ended, Progress::Ended)),
            Progress::Ended => return None,
        };
    }
}

/// The error for a stream without a last event: the turn failed inside the gateway.
fn incomplete(id: RequestId) -> LaneEvent {
    LaneEvent::Refused(id, ApiError::Panicked)
}

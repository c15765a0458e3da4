//! The caller's end of a turn.

use antiphon::stream::{Event, Failure, Finished, Status};
use http::{HeaderMap, StatusCode};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::channel::{Closed, EventReceiver, EventSender, Told, channel};
use crate::error::ApiError;
use crate::limits::TurnPermit;

/// What is known before the first byte, as headers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head(pub(crate) HeaderMap);

/// An answer as it goes to the caller.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Events as they come.
    Stream(Head, EventReceiver),
    /// The whole response object.
    Whole(Head, String),
}

/// The turn's hold on its caller, who may leave at any time.
pub(crate) struct Client {
    streams: bool,
    head: Head,
    answer: Option<oneshot::Sender<Result<Answer, ApiError>>>,
    events: Option<EventSender>,
    /// Counted until the caller is told of the end: it may ask again at once.
    permit: Option<TurnPermit>,
    /// Cancelled when nobody waits for slow readers any longer.
    closing: CancellationToken,
    /// Why the response fails, for a caller that gets no events.
    failure: Option<ApiError>,
}

impl Client {
    /// A client that wants a stream or a whole answer, and where the answer arrives.
    pub(crate) fn new(
        streams: bool,
        closing: CancellationToken,
        permit: TurnPermit,
    ) -> (Self, oneshot::Receiver<Result<Answer, ApiError>>) {
        let (sender, answer) = oneshot::channel();
        let client = Self {
            streams,
            head: Head::default(),
            answer: Some(sender),
            events: None,
            permit: Some(permit),
            closing,
            failure: None,
        };
        (client, answer)
    }

    /// The answer begins: from here on a stream can only end, not be refused.
    pub(super) fn begin(&mut self, head: Head) {
        self.head = head;
        if self.streams
            && let Some(answer) = self.answer.take()
        {
            let (events, receiver) = channel();
            self.events = Some(events);
            drop(answer.send(Ok(Answer::Stream(std::mem::take(&mut self.head), receiver))));
        }
    }

    /// Waits until the caller has left.
    pub(super) async fn gone(&mut self) {
        match (&mut self.answer, &self.events) {
            (Some(answer), _) => answer.closed().await,
            (None, Some(events)) => events.closed().await,
            (None, None) => std::future::pending().await,
        }
    }

    /// Passes an event on. Waits while the caller reads slowly; does nothing once it has left.
    ///
    /// The wait is bounded: a caller that takes nothing for the client time-out loses its connection,
    /// and with it the other end of the channel. When the gateway closes, a stream that is not taken
    /// is cut.
    pub(super) async fn event(&mut self, event: &Event) {
        self.pass_on(Told::Event(event.clone())).await;
    }

    async fn pass_on(&mut self, told: Told) {
        let Some(events) = &self.events else { return };
        let sent = tokio::select! {
            biased;
            sent = events.send(told) => sent,
            () = self.closing.cancelled() => Err(Closed),
        };
        if sent.is_err() && self.closing.is_cancelled() {
            self.events = None;
        }
    }

    /// The turn is refused before its answer began.
    pub(super) fn refuse(&mut self, error: ApiError) {
        self.permit = None;
        if let Some(answer) = self.answer.take() {
            drop(answer.send(Err(error)));
        }
    }

    /// The response that is to end has failed for this reason.
    pub(super) fn failing(&mut self, error: ApiError) {
        self.failure = Some(error);
    }

    /// The turn's end, once it is committed.
    pub(super) async fn end(&mut self, finished: Finished) {
        self.permit = None;
        if self.streams {
            self.last_event(&finished.event).await;
        } else if finished.status == Status::Failed {
            let error = self.failure.take().unwrap_or_else(|| failed(finished.failure));
            self.refuse(error);
        } else if let Some(answer) = self.answer.take() {
            drop(answer.send(Ok(Answer::Whole(std::mem::take(&mut self.head), finished.response))));
        }
    }

    /// The turn came to its end and could not be kept: the caller is told that it failed.
    pub(super) async fn break_off(&mut self, finished: &Finished, error: ApiError) {
        self.permit = None;
        if self.streams {
            let failure = Failure::server_error(error.message());
            self.last_event(&finished.failed_instead(&failure)).await;
        } else {
            self.refuse(error);
        }
    }

    async fn last_event(&mut self, event: &Event) {
        self.event(event).await;
        self.pass_on(Told::Done).await;
        self.events = None;
    }
}

/// A turn that ends without an answer because the gateway closes is refused, so that its caller tries
/// again.
impl Drop for Client {
    fn drop(&mut self) {
        if self.closing.is_cancelled() {
            self.refuse(ApiError::stopping());
        }
    }
}

/// A failed response as an error, for callers that get no events.
fn failed(failure: Option<Failure>) -> ApiError {
    let message = failure.map_or_else(|| "The response failed.".into(), |failure| failure.message);
    ApiError::server(StatusCode::BAD_GATEWAY, message)
}

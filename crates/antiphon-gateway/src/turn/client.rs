//! The caller's end of a turn.

use antiphon::stream::{Event, Failure, Finished, Status};
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use tokio::sync::{mpsc, oneshot};

use crate::error::ApiError;

/// How many events may wait for a slow reader before its upstream has to.
const EVENTS_IN_FLIGHT: usize = 32;

/// What is known before the first byte, as headers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head(pub(crate) HeaderMap);

/// An answer as it goes to the caller.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Events as they come.
    Stream(Head, mpsc::Receiver<Bytes>),
    /// The whole response object.
    Whole(Head, String),
}

/// The turn's hold on its caller, who may leave at any time.
pub(crate) struct Client {
    streams: bool,
    head: Head,
    answer: Option<oneshot::Sender<Result<Answer, ApiError>>>,
    events: Option<mpsc::Sender<Bytes>>,
    /// Why the response fails, for a caller that gets no events.
    failure: Option<ApiError>,
}

impl Client {
    /// A client that wants a stream or a whole answer, and where the answer arrives.
    pub(crate) fn new(streams: bool) -> (Self, oneshot::Receiver<Result<Answer, ApiError>>) {
        let (sender, answer) = oneshot::channel();
        let (head, answer_sender) = (Head::default(), Some(sender));
        let client = Self { streams, head, answer: answer_sender, events: None, failure: None };
        (client, answer)
    }

    /// The answer begins: from here on a stream can only end, not be refused.
    pub(super) fn begin(&mut self, head: Head) {
        self.head = head;
        if self.streams
            && let Some(answer) = self.answer.take()
        {
            let (events, receiver) = mpsc::channel(EVENTS_IN_FLIGHT);
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
    pub(super) async fn event(&mut self, event: &Event) {
        if let Some(events) = &self.events {
            drop(events.send(event.to_sse()).await);
        }
    }

    /// The turn is refused before its answer began.
    pub(super) fn refuse(&mut self, error: ApiError) {
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
        if self.streams {
            let failure = Failure::server_error(error.message());
            self.last_event(&finished.failed_instead(&failure)).await;
        } else {
            self.refuse(error);
        }
    }

    async fn last_event(&mut self, event: &Event) {
        self.event(event).await;
        if let Some(events) = self.events.take() {
            drop(events.send(Bytes::from_static(b"data: [DONE]\n\n")).await);
        }
    }
}

/// A failed response as an error, for callers that get no events.
fn failed(failure: Option<Failure>) -> ApiError {
    let message = failure.map_or_else(|| "The response failed.".into(), |failure| failure.message);
    ApiError::server(StatusCode::BAD_GATEWAY, message)
}

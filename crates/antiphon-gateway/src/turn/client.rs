//! The client's end of a turn.

use antiphon::Item;
use antiphon::stream::{Event, Failure, Finished, Status};
use http::HeaderMap;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::cancel::CancelReason;
use super::channel::{Closed, EventReceiver, EventSender, OutgoingEvent, channel};
use super::log::EventLog;
use super::shared_text::{SharedEnd, SharedTexts};
use crate::chunks::Chunks;
use crate::error::ApiError;
use crate::limits::TurnPermit;

/// The headers of an answer, known before its first byte.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head(pub(crate) HeaderMap);

/// An answer as the client receives it.
#[derive(Debug)]
pub(crate) enum Answer {
    /// A stream of events.
    Stream(Head, EventReceiver),
    /// The whole response object.
    Whole(Head, Chunks),
}

/// The turn's handle on its client, which may disconnect at any time.
pub(crate) struct Client {
    audience: Audience,
    head: Head,
    /// The turn's place in the limiter. It is released before the client sees the end, because the
    /// client may send its next request at once.
    permit: Option<TurnPermit>,
    /// Cancelled when slow readers are no longer waited for.
    closing: CancellationToken,
    /// The reason for the failure, for a client that receives no events. It is on the heap, because
    /// it is rare.
    failure: Option<Box<ApiError>>,
}

/// The receiver of the turn's events.
enum Audience {
    /// A client that waits for a stream to begin.
    AwaitsStream(Answering),
    /// A client that waits for the whole answer.
    AwaitsWhole(Answering),
    /// A client that reads a stream.
    Reads(EventSender),
    /// The event log of a background turn, from which any client can read.
    Log(EventLog),
    /// Nobody any more.
    Nobody,
}

type Answering = oneshot::Sender<Result<Answer, ApiError>>;

impl Client {
    /// Creates a client that waits for a stream or a whole answer, and the receiver of that answer.
    pub(crate) fn new(
        streams: bool,
        closing: CancellationToken,
        permit: TurnPermit,
    ) -> (Self, oneshot::Receiver<Result<Answer, ApiError>>) {
        let (sender, answer) = oneshot::channel();
        let audience = match streams {
            true => Audience::AwaitsStream(sender),
            false => Audience::AwaitsWhole(sender),
        };
        (Self::with_audience(audience, closing, Some(permit)), answer)
    }

    /// The client of a background turn. It never disconnects.
    pub(super) fn from_log(
        log: EventLog,
        closing: CancellationToken,
        permit: Option<TurnPermit>,
    ) -> Self {
        Self::with_audience(Audience::Log(log), closing, permit)
    }

    fn with_audience(
        audience: Audience,
        closing: CancellationToken,
        permit: Option<TurnPermit>,
    ) -> Self {
        Self { audience, head: Head::default(), permit, closing, failure: None }
    }

    /// Closes the log of a background turn and returns it.
    pub(super) fn into_log(mut self) -> Option<EventLog> {
        match std::mem::replace(&mut self.audience, Audience::Nobody) {
            Audience::Log(log) => Some(log),
            _ => None,
        }
    }

    /// Begins the answer. From here on a stream can end, but no longer be rejected.
    pub(super) fn begin_answer(&mut self, head: Head) {
        self.head = head;
        self.audience = match std::mem::replace(&mut self.audience, Audience::Nobody) {
            Audience::AwaitsStream(answer) => {
                let (events, receiver) = channel();
                drop(answer.send(Ok(Answer::Stream(std::mem::take(&mut self.head), receiver))));
                Audience::Reads(events)
            }
            audience => audience,
        };
    }

    /// Whether the client receives nothing before the whole answer.
    pub(super) fn awaits_whole(&self) -> bool {
        matches!(self.audience, Audience::AwaitsWhole(_))
    }

    /// Waits until nobody waits for the rest.
    pub(super) async fn cancelled(&mut self) -> CancelReason {
        match &mut self.audience {
            Audience::AwaitsStream(answer) | Audience::AwaitsWhole(answer) => {
                answer.closed().await;
                CancelReason::Disconnected
            }
            Audience::Reads(events) => {
                events.closed().await;
                CancelReason::Disconnected
            }
            // On the heap, because the other clients would need memory for it, too.
            Audience::Log(log) => Box::pin(log.cancelled()).await,
            Audience::Nobody => std::future::pending().await,
        }
    }

    /// Sends events. Waits while the client reads slowly; does nothing after it has disconnected.
    /// Texts that they share with the output `items` are stored once, however slowly it reads.
    ///
    /// The wait is bounded: a client that reads nothing for the client timeout loses its
    /// connection, and with it the other end of the channel. When the gateway closes, a stream that
    /// is not read is cut.
    pub(super) async fn send_events<'a>(
        &mut self,
        events: Vec<Event>,
        items: impl Iterator<Item = &'a Item>,
    ) {
        let texts = match self.audience {
            Audience::Reads(_) => SharedTexts::from_events(&events, items),
            _ => SharedTexts::default(),
        };
        let outgoing = events.into_iter().map(|event| texts.share_in(event)).collect();
        drop(texts);
        self.send(outgoing).await;
    }

    async fn send(&mut self, events: Vec<OutgoingEvent>) {
        let channel = match &self.audience {
            Audience::Reads(channel) => channel,
            Audience::Log(log) => return log.send(events).await,
            _ => return,
        };
        let sent = tokio::select! {
            biased;
            sent = channel.send(events) => sent,
            () = self.closing.cancelled() => Err(Closed),
        };
        if sent.is_err() && self.closing.is_cancelled() {
            self.audience = Audience::Nobody;
        }
    }

    /// Rejects the turn before its answer begins.
    pub(super) fn refuse(&mut self, error: ApiError) {
        self.permit = None;
        self.send_answer(Err(error));
    }

    /// Answers a client that has no answer yet.
    fn send_answer(&mut self, answer: Result<Answer, ApiError>) {
        self.audience = match std::mem::replace(&mut self.audience, Audience::Nobody) {
            Audience::AwaitsStream(answering) | Audience::AwaitsWhole(answering) => {
                drop(answering.send(answer));
                Audience::Nobody
            }
            audience => audience,
        };
    }

    /// Stores the reason for the failure of a response that is about to end.
    pub(super) fn set_failure(&mut self, error: ApiError) {
        self.failure = Some(Box::new(error));
    }

    /// Sends the end of a replayed response.
    pub(super) async fn send_end(&mut self, mut finished: Finished) {
        let end = SharedEnd::take_from(&mut finished);
        let (status, failure) = (finished.status, finished.failure.take());
        drop(finished);
        self.send_shared_end(status, failure, end).await;
    }

    /// Sends the end of the turn after its commit. `failure` is the reason if it failed.
    pub(super) async fn send_shared_end(
        &mut self,
        status: Status,
        failure: Option<Failure>,
        end: SharedEnd,
    ) {
        self.permit = None;
        match &self.audience {
            Audience::AwaitsWhole(_) if status == Status::Failed => {
                let error = self.failure.take().map_or_else(|| failed(failure), |error| *error);
                self.refuse(error);
            }
            Audience::AwaitsWhole(_) => self.send_whole(end.into_response()),
            _ => self.send_last(end.into_event()).await,
        }
    }

    /// Sends a whole response object that the upstream created.
    pub(super) fn send_object(&mut self, response: String) {
        self.permit = None;
        self.send_whole(response.into());
    }

    fn send_whole(&mut self, response: Chunks) {
        let head = std::mem::take(&mut self.head);
        self.send_answer(Ok(Answer::Whole(head, response)));
    }

    /// Reports a failure to the client, because the turn ended but could not be stored.
    pub(super) async fn send_commit_error(&mut self, finished: &Finished, error: ApiError) {
        self.permit = None;
        if let Audience::AwaitsWhole(_) = self.audience {
            self.refuse(error);
        } else {
            let failure = Failure::server_error(error.to_string());
            self.send_last(OutgoingEvent::Event(finished.failed_instead(&failure))).await;
        }
    }

    async fn send_last(&mut self, event: OutgoingEvent) {
        self.send(vec![event, OutgoingEvent::Done]).await;
        self.audience = Audience::Nobody;
    }
}

/// Rejects a turn that ends without an answer because the gateway closes, so that its client tries
/// again.
impl Drop for Client {
    fn drop(&mut self) {
        if self.closing.is_cancelled() {
            self.refuse(ApiError::Stopping);
        }
    }
}

/// Waits for the client's answer, which the task of its turn sends.
pub(super) async fn receive<T>(
    answer: oneshot::Receiver<Result<T, ApiError>>,
) -> Result<T, ApiError> {
    answer.await.unwrap_or(Err(ApiError::Panicked))
}

/// The error of a failed response, for clients that receive no events.
fn failed(failure: Option<Failure>) -> ApiError {
    let reason = failure.map_or_else(|| "The response failed.".into(), |failure| failure.message);
    ApiError::UpstreamFailed { reason }
}

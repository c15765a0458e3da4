//! The caller's end of a turn.

use std::collections::VecDeque;

use antiphon::Item;
use antiphon::stream::{Event, Failure, Finished, Status};
use http::{HeaderMap, StatusCode};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::channel::{Closed, EventReceiver, EventSender, Told, channel};
use super::log::EventLog;
use super::relay::Unwanted;
use super::shared_text::{SharedEnd, SharedTexts};
use crate::chunks::Chunks;
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
    Whole(Head, Chunks),
}

/// The turn's hold on its caller, who may leave at any time.
pub(crate) struct Client {
    audience: Audience,
    head: Head,
    /// Counted until the caller is told of the end: it may ask again at once.
    permit: Option<TurnPermit>,
    /// Cancelled when nobody waits for slow readers any longer.
    closing: CancellationToken,
    /// Why the response fails, for a caller that gets no events.
    failure: Option<ApiError>,
}

/// Who is told of the turn.
enum Audience {
    /// A caller that wants a stream, which has not begun.
    AwaitsStream(Answering),
    /// A caller that wants a whole answer.
    AwaitsWhole(Answering),
    /// A caller that reads.
    Reads(EventSender),
    /// A log, which whoever likes reads.
    Log(EventLog),
    /// Nobody any more.
    Nobody,
}

type Answering = oneshot::Sender<Result<Answer, ApiError>>;

impl Client {
    /// A client that wants a stream or a whole answer, and where the answer arrives.
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
        (Self::of(audience, closing, Some(permit)), answer)
    }

    /// The client of a turn in the background: it never leaves.
    pub(super) fn logging(
        log: EventLog,
        closing: CancellationToken,
        permit: Option<TurnPermit>,
    ) -> Self {
        Self::of(Audience::Log(log), closing, permit)
    }

    fn of(audience: Audience, closing: CancellationToken, permit: Option<TurnPermit>) -> Self {
        Self { audience, head: Head::default(), permit, closing, failure: None }
    }

    /// The log of a turn in the background, to which nothing is added any more.
    pub(super) fn into_log(mut self) -> Option<EventLog> {
        match std::mem::replace(&mut self.audience, Audience::Nobody) {
            Audience::Log(log) => Some(log),
            _ => None,
        }
    }

    /// The answer begins: from here on a stream can only end, not be refused.
    pub(super) fn begin(&mut self, head: Head) {
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

    /// Whether it is told nothing before the whole answer.
    pub(super) fn awaits_whole(&self) -> bool {
        matches!(self.audience, Audience::AwaitsWhole(_))
    }

    /// Waits until nobody wants what is still to come.
    pub(super) async fn unwanted(&mut self) -> Unwanted {
        match &mut self.audience {
            Audience::AwaitsStream(answer) | Audience::AwaitsWhole(answer) => {
                answer.closed().await;
                Unwanted::Left
            }
            Audience::Reads(events) => {
                events.closed().await;
                Unwanted::Left
            }
            Audience::Log(log) => log.unwanted().await,
            Audience::Nobody => std::future::pending().await,
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

    /// Passes several events on, as [`event`](Self::event) does. Texts of the output `items` that
    /// they repeat are kept once, however long the caller takes to read them.
    pub(super) async fn events<'a>(
        &mut self,
        events: Vec<Event>,
        items: impl Iterator<Item = &'a Item>,
    ) {
        let texts = match self.audience {
            Audience::Reads(_) => SharedTexts::of(&events, items),
            _ => SharedTexts::default(),
        };
        let told: VecDeque<Told> = events.into_iter().map(|event| texts.told(event)).collect();
        drop(texts);
        for told in told {
            self.pass_on(told).await;
        }
    }

    async fn pass_on(&mut self, told: Told) {
        let events = match &self.audience {
            Audience::Reads(events) => events,
            Audience::Log(log) => return log.send(told).await,
            _ => return,
        };
        let sent = tokio::select! {
            biased;
            sent = events.send(told) => sent,
            () = self.closing.cancelled() => Err(Closed),
        };
        if sent.is_err() && self.closing.is_cancelled() {
            self.audience = Audience::Nobody;
        }
    }

    /// The turn is refused before its answer began.
    pub(super) fn refuse(&mut self, error: ApiError) {
        self.permit = None;
        self.answer(Err(error));
    }

    /// Answers a caller that has no answer yet.
    fn answer(&mut self, answer: Result<Answer, ApiError>) {
        self.audience = match std::mem::replace(&mut self.audience, Audience::Nobody) {
            Audience::AwaitsStream(answering) | Audience::AwaitsWhole(answering) => {
                drop(answering.send(answer));
                Audience::Nobody
            }
            audience => audience,
        };
    }

    /// The response that is to end has failed for this reason.
    pub(super) fn failing(&mut self, error: ApiError) {
        self.failure = Some(error);
    }

    /// The turn's end, of a response that was kept before.
    pub(super) async fn end(&mut self, mut finished: Finished) {
        let end = SharedEnd::take(&mut finished);
        let (status, failure) = (finished.status, finished.failure.take());
        drop(finished);
        self.end_shared(status, failure, end).await;
    }

    /// The turn's end, once it is committed. `failure`: why it failed, if it did.
    pub(super) async fn end_shared(
        &mut self,
        status: Status,
        failure: Option<Failure>,
        end: SharedEnd,
    ) {
        self.permit = None;
        match &self.audience {
            Audience::AwaitsWhole(_) if status == Status::Failed => {
                let error = self.failure.take().unwrap_or_else(|| failed(failure));
                self.refuse(error);
            }
            Audience::AwaitsWhole(_) => self.answer_whole(end.into_response()),
            _ => self.last(end.into_event()).await,
        }
    }

    /// The whole answer, of a turn that ends elsewhere.
    pub(super) fn told(&mut self, response: String) {
        self.permit = None;
        self.answer_whole(response.into());
    }

    fn answer_whole(&mut self, response: Chunks) {
        let head = std::mem::take(&mut self.head);
        self.answer(Ok(Answer::Whole(head, response)));
    }

    /// The turn came to its end and could not be kept: the caller is told that it failed.
    pub(super) async fn break_off(&mut self, finished: &Finished, error: ApiError) {
        self.permit = None;
        if let Audience::AwaitsWhole(_) = self.audience {
            self.refuse(error);
        } else {
            let failure = Failure::server_error(error.message());
            self.last_event(&finished.failed_instead(&failure)).await;
        }
    }

    async fn last_event(&mut self, event: &Event) {
        self.last(Told::Event(event.clone())).await;
    }

    async fn last(&mut self, told: Told) {
        self.pass_on(told).await;
        self.pass_on(Told::Done).await;
        self.audience = Audience::Nobody;
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

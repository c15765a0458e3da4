//! An answer: a stream of events, and its result.

mod event;

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use antiphon::dialect::Omission;
use antiphon::item::{Item, Kind, parse_items};
use antiphon::json::{Object, unquote};
use antiphon::stateful::Report;
use antiphon::tracker::ResponseId;
use bytes::Bytes;
use futures_util::stream::{BoxStream, Stream, StreamExt};

pub use event::{AnswerEvent, EventKind, TextPlace};
pub(crate) use event::{LOCAL_ID, ResponseIds};

use crate::{Error, ErrorKind, Usage};

/// An answer that is being received: a stream of well-formed events of the Responses API, whatever
/// the API of the server is.
///
/// Guarantees:
///
/// - The last event is [`EventKind::Completed`], or the stream ends with an error. Nothing follows.
/// - An error after events with output says so: [`Error::has_emitted_output`].
///
/// Dropping the answer closes its connection.
pub struct Answer {
    events: BoxStream<'static, Result<AnswerEvent, Error>>,
    report: Report,
    omissions: Vec<Omission>,
    has_emitted_output: bool,
    is_over: bool,
}

/// The result of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The id of the response, with which the next request can continue. `None` if the server gives
    /// no ids or does not know them later.
    pub response_id: Option<ResponseId>,
    /// The items of the model, in order.
    pub output: Vec<Item>,
    /// The tokens.
    pub usage: Usage,
    /// Whether the model finished its answer.
    pub status: AnswerStatus,
    /// The whole response object.
    pub response: Bytes,
}

/// The end of an answer that did not fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerStatus {
    /// The model finished its answer.
    Completed,
    /// The model stopped early.
    Incomplete {
        /// The server's reason: `max_output_tokens`, `content_filter`.
        reason: Option<String>,
    },
}

impl Answer {
    /// An answer with these events, of a request that was sent with the changes in `report`.
    pub fn new(
        events: impl Stream<Item = Result<AnswerEvent, Error>> + Send + 'static,
        report: Report,
    ) -> Self {
        let (events, omissions) = (events.boxed(), Vec::new());
        Self { events, report, omissions, has_emitted_output: false, is_over: false }
    }

    /// The answer to a request whose parts the API of the server cannot carry.
    pub(crate) fn with_omissions(self, omissions: Vec<Omission>) -> Self {
        Self { omissions, ..self }
    }

    /// The omitted and repaired items of the request.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The parts of the request that the server's API cannot carry, and that were left out.
    pub fn omissions(&self) -> &[Omission] {
        &self.omissions
    }

    /// The next event; `None` after the last one.
    pub async fn next(&mut self) -> Option<Result<AnswerEvent, Error>> {
        StreamExt::next(self).await
    }

    /// Waits for the end of the answer.
    pub async fn finish(mut self) -> Result<Answered, Error> {
        while let Some(event) = self.next().await {
            if let EventKind::Completed(answered) = event?.into_kind() {
                return Ok(answered);
            }
        }
        Err(self.broke_off())
    }

    fn broke_off(&self) -> Error {
        let error = ErrorKind::BrokeOff("it has no end".to_owned()).into();
        self.complete(error)
    }

    /// Adds the state of this answer to an error.
    fn complete(&self, error: Error) -> Error {
        let error = error.with_report(self.report.clone());
        if self.has_emitted_output { error.after_output() } else { error }
    }
}

impl Stream for Answer {
    type Item = Result<AnswerEvent, Error>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<AnswerEvent, Error>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let Poll::Ready(next) = self.events.poll_next_unpin(context) else { return Poll::Pending };
        Poll::Ready(Some(match next {
            Some(Ok(event)) => {
                self.is_over = matches!(event.kind(), EventKind::Completed(_));
                self.has_emitted_output |= event.is_output();
                Ok(event)
            }
            Some(Err(error)) => {
                self.is_over = true;
                Err(self.complete(error))
            }
            None => {
                self.is_over = true;
                Err(self.broke_off())
            }
        }))
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("report", &self.report).finish_non_exhaustive()
    }
}

impl Answered {
    /// Reads a response object that has ended.
    ///
    /// # Errors
    /// The failure, if the response failed or has not ended.
    pub fn parse(response: Bytes) -> Result<Self, Error> {
        Self::read(response, ResponseIds::Server)
    }

    /// Reads a response object with such an id.
    pub(crate) fn read(response: Bytes, ids: ResponseIds) -> Result<Self, Error> {
        let invalid = |reason: String| Error::from(ErrorKind::UnexpectedAnswer(reason));
        let fields = Object::parse(&response)
            .map_err(|error| invalid(format!("not a response object: {error}")))?;
        let status = match fields.string("status").as_deref() {
            Some("completed") | None => AnswerStatus::Completed,
            Some("incomplete") => AnswerStatus::Incomplete { reason: incomplete_reason(&fields) },
            Some(_) => return Err(event::failure(&fields)),
        };
        let output = match fields.present("output") {
            Some(raw) => parse_items(&response.slice_ref(raw.as_bytes()))
                .map_err(|error| invalid(format!("'output': {error}")))?,
            None => Vec::new(),
        };
        let (response_id, usage) = (ids.read(&fields), Usage::from_response(&fields));
        drop(fields);
        Ok(Self { response_id, output, usage, status, response })
    }

    /// The model's text; see [`text_of`].
    pub fn text(&self) -> String {
        text_of(&self.output)
    }

    /// The calls that the caller has to answer.
    pub fn calls(&self) -> impl Iterator<Item = &Item> {
        self.output.iter().filter(|item| item.head().kind.must_be_answered())
    }
}

fn incomplete_reason(response: &Object<'_>) -> Option<String> {
    let details = Object::parse_str(response.present("incomplete_details")?).ok()?;
    details.string("reason").map(String::from)
}

/// The text of the messages in a list of items: their parts with text, one after the other.
pub fn text_of(items: &[Item]) -> String {
    items.iter().filter(|item| item.head().kind == Kind::Message).flat_map(texts).collect()
}

/// The texts of a message.
fn texts(message: &Item) -> Vec<String> {
    let object = message.object();
    let Some(content) = object.get("content") else { return Vec::new() };
    if let Some(text) = unquote(content) {
        return vec![text.into_owned()];
    }
    let parts: Vec<&serde_json::value::RawValue> =
        serde_json::from_str(content).unwrap_or_default();
    let text = |part: &&serde_json::value::RawValue| {
        let part = Object::parse_str(part.get()).ok()?;
        part.string("text").map(String::from)
    };
    parts.iter().filter_map(text).collect()
}

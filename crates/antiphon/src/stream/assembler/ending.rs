//! The end of a response.

use super::output::OutputBuilder;
use super::{Assembler, Note, Phase};
use crate::item::{Item, ItemId, Kind};
use crate::json::{Object, quote, unquote};
use crate::stream::fields::in_one_line;
use crate::stream::{Event, Usage};

/// The outcome of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The model finished its answer.
    Completed,
    /// The model stopped early: at a token limit or a content filter.
    Incomplete,
    /// The response failed; its terminal event reports the error.
    Failed,
    /// The client disconnected or cancelled it.
    Cancelled,
}

impl Status {
    /// The value of the response's `status`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Incomplete => "incomplete",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Parses the `status` of a response that has ended; `None` for any other status.
    pub(super) fn from_response(text: &str) -> Option<Self> {
        match text {
            "completed" => Some(Self::Completed),
            "incomplete" => Some(Self::Incomplete),
            "failed" | "cancelled" => Some(Self::Failed),
            _ => None,
        }
    }

    /// The `status` of an item that is still open when the response ends.
    pub(super) fn for_open_items(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            _ => "incomplete",
        }
    }

    fn event(self) -> &'static str {
        match self {
            Self::Completed => "response.completed",
            Self::Incomplete => "response.incomplete",
            Self::Failed | Self::Cancelled => "response.failed",
        }
    }
}

/// The error of a failed response: `response.error`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// `error.code`
    pub code: String,
    /// `error.message`, a sentence.
    pub message: String,
}

impl Failure {
    /// Creates a failure with the code `server_error`.
    pub fn server_error(message: impl Into<String>) -> Self {
        Self { code: "server_error".into(), message: message.into() }
    }

    fn to_json(&self) -> String {
        let (code, message) = (quote(&self.code), quote(&self.message));
        format!(r#"{{"code":{code},"message":{message}}}"#)
    }

    /// Parses an upstream's `error` event, which has the fields at its top level or under `error`.
    pub(super) fn from_event(event: &Object<'_>) -> Self {
        if let Some(message) = event.string("error") {
            return Self::server_error(message);
        }
        let nested = event.get("error").and_then(|raw| Object::parse(raw.as_bytes()).ok());
        Self::from_error(nested.as_ref().unwrap_or(event))
    }

    fn from_error(error: &Object<'_>) -> Self {
        let text = |key| error.string(key).map(std::borrow::Cow::into_owned);
        let message =
            ["message", "detail"].into_iter().find_map(|key| sentence(error.present(key)?));
        Self {
            code: text("code")
                .filter(|code| !code.is_empty())
                .unwrap_or_else(|| "server_error".into()),
            message: message
                .unwrap_or_else(|| "The upstream failed without an error message.".into()),
        }
    }
}

/// The text of an error's field: a string, the `message` of an object, or else the field's JSON.
fn sentence(raw: &str) -> Option<String> {
    let sentence = match Object::parse(raw.as_bytes()) {
        Ok(object) => object.string("message").map(std::borrow::Cow::into_owned),
        Err(_) => unquote(raw).map(std::borrow::Cow::into_owned),
    };
    sentence.or_else(|| Some(raw.to_owned())).filter(|sentence| !sentence.is_empty())
}

/// The end of a response, before its terminal event is emitted.
#[derive(Clone, Debug)]
pub struct Ending {
    status: Status,
    failure: Option<Failure>,
    incomplete_details: Option<String>,
}

impl Ending {
    pub(super) fn failed(failure: Failure) -> Self {
        Self { status: Status::Failed, failure: Some(failure), incomplete_details: None }
    }

    pub(super) fn cancelled() -> Self {
        Self { status: Status::Cancelled, failure: None, incomplete_details: None }
    }

    pub(super) fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// The end that the upstream's response object reports.
    pub(super) fn from_response(status: Status, response: &Object<'_>) -> Self {
        let details = response.present("incomplete_details").map(str::to_owned);
        Self {
            status,
            failure: (status == Status::Failed).then(|| Failure::from_event(response)),
            incomplete_details: details.filter(|_| status == Status::Incomplete),
        }
    }
}

/// A response that has ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The outcome.
    pub status: Status,
    /// The terminal event. Send it after the turn is committed.
    pub event: Event,
    /// The response object, with its output.
    pub response: String,
    /// The response object without its output, for storage next to the items.
    pub envelope: String,
    /// The output items to store.
    pub output: Vec<Output>,
    /// The repairs to the stream.
    pub notes: Vec<Note>,
    /// The error, if the response failed.
    pub failure: Option<Failure>,
    /// The tokens of the response; `None` if the upstream reports none.
    pub usage: Option<Usage>,
}

impl Finished {
    /// The terminal event to send instead if the response ended but could not be stored.
    pub fn failed_instead(&self, failure: &Failure) -> Event {
        let mut response = Object::parse(self.response.as_bytes()).expect("it was rendered so");
        response.set("status", r#""failed""#);
        response.set("completed_at", "null");
        response.set("incomplete_details", "null");
        response.set("error", failure.to_json());
        let mut event = Object::parse(&self.event.data).expect("it was emitted so");
        event.set("type", r#""response.failed""#);
        event.set("response", response.to_text());
        Event { kind: "response.failed".into(), data: in_one_line(event.to_text()) }
    }
}

/// An output item to store.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Its id.
    pub id: ItemId,
    /// The item to store; `None` if the client saw the item but it must not stay in the
    /// conversation.
    pub item: Option<Item>,
    /// The item in its last event.
    pub announced: Item,
}

impl Assembler {
    /// Returns the terminal event and the output to store. `now` is in Unix seconds.
    ///
    /// # Panics
    /// If the response has not ended: see [`Assembler::has_ended`].
    pub fn finish(mut self, now: i64) -> Finished {
        let Phase::Ended(ending) = &self.phase else {
            panic!("a response is finished after it has ended");
        };
        let Ending { status, failure, incomplete_details } = Ending::clone(ending);
        self.describe_end(status, failure.as_ref(), incomplete_details, now);
        self.into_finished(status, failure)
    }

    /// Ends a response after the client disconnected. If it has already ended, this is
    /// [`finish`](Self::finish).
    ///
    /// Finished items stay in the output, and so does a message with some text, as `incomplete`. An
    /// unfinished call is dropped, and so is reasoning without a following item. The events that
    /// close the open items are counted but not returned, since no client receives them.
    pub fn finish_disconnected(mut self, now: i64) -> Finished {
        if self.has_ended() {
            return self.finish(now);
        }
        self.output.close(Status::Cancelled.for_open_items());
        self.describe_end(Status::Cancelled, None, None, now);
        self.into_finished(Status::Cancelled, None)
    }

    fn describe_end(
        &mut self,
        status: Status,
        failure: Option<&Failure>,
        incomplete_details: Option<String>,
        now: i64,
    ) {
        let (preface, reported) = (&self.output.preface, self.envelope.get("usage"));
        let total = preface.as_ref().and_then(|preface| preface.total_usage(reported));
        if let Some(usage) = total {
            self.envelope.set("usage", usage);
        }
        self.envelope.set("status", format!("\"{}\"", status.as_str()));
        if status == Status::Completed {
            let completed_at = self.envelope.completed_at().unwrap_or(now);
            self.envelope.set("completed_at", completed_at.to_string());
        }
        if let Some(failure) = failure {
            self.envelope.set("error", failure.to_json());
        }
        if let Some(details) = incomplete_details {
            self.envelope.set("incomplete_details", details);
        }
    }

    fn into_finished(mut self, status: Status, failure: Option<Failure>) -> Finished {
        let rendered = self.output.render();
        let response = self.envelope.render(rendered.iter().map(AsRef::as_ref));
        let event = self.output.emitter.event(status.event(), &[("response", &response)]);
        Finished {
            output: self.output.to_store(status),
            status,
            event,
            response,
            envelope: self.envelope.render(std::iter::empty()),
            usage: self.envelope.get("usage").and_then(Usage::from_json),
            notes: self.output.notes.into_vec(),
            failure,
        }
    }
}

impl OutputBuilder {
    /// The output to store. If the response is completed or incomplete, that is every item.
    fn to_store(&self, status: Status) -> Vec<Output> {
        let ended_well = matches!(status, Status::Completed | Status::Incomplete);
        let output = self.items.iter().map(|output| Output {
            id: output.id().clone(),
            item: if ended_well { Some(output.item()) } else { output.retained() }.cloned(),
            announced: output.item().clone(),
        });
        let mut output: Vec<Output> = output.collect();
        if !ended_well {
            drop_lone_reasoning(&mut output);
        }
        output
    }
}

/// Drops reasoning without a following item: providers reject it.
fn drop_lone_reasoning(output: &mut [Output]) {
    for output in output.iter_mut().rev() {
        match &output.item {
            Some(item) if item.head().kind == Kind::Reasoning => output.item = None,
            Some(_) => return,
            None => {}
        }
    }
}

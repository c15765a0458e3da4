//! The events of an answer.

use std::borrow::Cow;

use antiphon::item::Item;
use antiphon::json::Object;
use antiphon::stream::Event;
use antiphon::tracker::ResponseId;
use antiphon::transcript::Origin;
use bytes::Bytes;

use super::Answered;
use crate::origin::seal;
use crate::{Error, ErrorKind};

/// One event of an answer: its bytes, and a typed form of the fields that most readers need.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerEvent {
    kind: EventKind,
    event: Event,
}

/// The typed form of an event.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EventKind {
    /// The response has begun.
    Created {
        /// The id of the response, if the server gives one.
        response_id: Option<ResponseId>,
    },
    /// The response is in a queue or in progress. The event has no output.
    InProgress,
    /// An item has begun.
    ItemAdded {
        /// The position of the item in the output.
        output_index: u64,
        /// The item so far.
        item: Item,
    },
    /// A part of the model's text.
    TextDelta(TextPlace, String),
    /// A part of a text with which the model refuses.
    RefusalDelta(TextPlace, String),
    /// A part of reasoning, or of its summary.
    ReasoningDelta(TextPlace, String),
    /// A part of the arguments of a call, or of the input of a custom tool.
    ArgumentsDelta(TextPlace, String),
    /// An item is complete.
    ItemDone {
        /// The position of the item in the output.
        output_index: u64,
        /// The item.
        item: Item,
    },
    /// The answer is complete. This is the last event.
    Completed(Answered),
    /// Any other event.
    Other,
}

/// The item that a text belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextPlace {
    /// The id of the item.
    pub item_id: String,
    /// The position of the item in the output.
    pub output_index: u64,
}

impl AnswerEvent {
    /// Reads an event of the Responses API.
    ///
    /// # Errors
    /// The failure, if the event ends the response as failed.
    pub fn new(event: Event) -> Result<Self, Error> {
        Self::read(event, ResponseIds::Server)
    }

    /// Reads an event of a response with such an id.
    pub(crate) fn read(event: Event, ids: ResponseIds) -> Result<Self, Error> {
        let object = Object::parse(&event.data).map_err(|error| unreadable(&error))?;
        let kind = EventKind::read(&event.kind, &object, &event.data, ids)?;
        drop(object);
        Ok(Self { kind, event })
    }

    /// The typed form.
    pub fn kind(&self) -> &EventKind {
        &self.kind
    }

    /// The typed form, without the bytes.
    pub fn into_kind(self) -> EventKind {
        self.kind
    }

    /// The type on the wire: `response.output_text.delta`.
    pub fn event_type(&self) -> &str {
        &self.event.kind
    }

    /// The event as JSON, in one line.
    pub fn data(&self) -> &Bytes {
        &self.event.data
    }

    /// The event as an event stream contains it.
    pub fn to_sse(&self) -> Bytes {
        self.event.to_sse()
    }

    /// The same event, with the origin of encrypted reasoning in its items. The bytes stay.
    pub(crate) fn sealed(self, origin: &Origin) -> Self {
        let kind = match self.kind {
            EventKind::ItemDone { output_index, item } => {
                EventKind::ItemDone { output_index, item: seal(item, origin) }
            }
            EventKind::Completed(mut answered) => {
                let output = answered.output.into_iter();
                answered.output = output.map(|item| seal(item, origin)).collect();
                EventKind::Completed(answered)
            }
            kind => kind,
        };
        Self { kind, ..self }
    }

    /// Whether it is the last event.
    pub(crate) fn is_last(&self) -> bool {
        matches!(self.kind, EventKind::Completed(_))
    }

    /// Whether the event has output, so that a second attempt would repeat it. The events before
    /// only announce the response.
    pub fn is_output(&self) -> bool {
        !matches!(self.kind, EventKind::Created { .. } | EventKind::InProgress)
    }
}

/// The prefix of ids for responses to which the server gives none.
pub(crate) const LOCAL_ID: &str = "resp_local";

/// Whose ids the responses of a server have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseIds {
    /// The server's: they can be continued.
    Server,
    /// Our own: the server does not know them.
    Local,
}

impl ResponseIds {
    pub(crate) fn read(self, response: &Object<'_>) -> Option<ResponseId> {
        let is_known =
            |id: &str| self == Self::Server && !id.is_empty() && !id.starts_with(LOCAL_ID);
        response.string("id").filter(|id| is_known(id)).map(ResponseId::from)
    }
}

impl EventKind {
    fn read(name: &str, event: &Object<'_>, data: &Bytes, ids: ResponseIds) -> Result<Self, Error> {
        Ok(match name {
            "response.created" => {
                let response = event.get("response").and_then(|raw| Object::parse_str(raw).ok());
                Self::Created { response_id: response.and_then(|it| ids.read(&it)) }
            }
            "response.queued" | "response.in_progress" | "keepalive" => Self::InProgress,
            "response.completed" | "response.incomplete" => {
                let response = event.get("response").ok_or_else(without_response)?;
                Self::Completed(Answered::read(data.slice_ref(response.as_bytes()), ids)?)
            }
            "response.failed" | "error" => return Err(failure(event)),
            "response.output_item.added" => match item(event, data) {
                Some(item) => Self::ItemAdded { output_index: index(event), item },
                None => Self::Other,
            },
            "response.output_item.done" => match item(event, data) {
                Some(item) => Self::ItemDone { output_index: index(event), item },
                None => Self::Other,
            },
            name => Self::read_delta(name, event),
        })
    }

    fn read_delta(name: &str, event: &Object<'_>) -> Self {
        let new: fn(TextPlace, String) -> Self = match name {
            "response.output_text.delta" => Self::TextDelta,
            "response.refusal.delta" => Self::RefusalDelta,
            "response.reasoning_text.delta"
            | "response.reasoning.delta"
            | "response.reasoning_summary_text.delta" => Self::ReasoningDelta,
            "response.function_call_arguments.delta"
            | "response.mcp_call_arguments.delta"
            | "response.custom_tool_call_input.delta" => Self::ArgumentsDelta,
            _ => return Self::Other,
        };
        let text = |key| event.string(key).map(Cow::into_owned).unwrap_or_default();
        let place = TextPlace { item_id: text("item_id"), output_index: index(event) };
        new(place, text("delta"))
    }
}

fn item(event: &Object<'_>, data: &Bytes) -> Option<Item> {
    Item::parse(data.slice_ref(event.get("item")?.as_bytes())).ok()
}

fn index(event: &Object<'_>) -> u64 {
    event.get("output_index").and_then(|raw| raw.parse().ok()).unwrap_or_default()
}

/// The error of an event that ends the response as failed.
pub(crate) fn failure(event: &Object<'_>) -> Error {
    let nested = |object: &Object<'_>, key: &str| object.get(key).map(str::to_owned);
    let raw = nested(event, "response")
        .and_then(|raw| nested(&Object::parse_str(&raw).ok()?, "error"))
        .or_else(|| nested(event, "error"));
    let error = raw.as_deref().and_then(|raw| Object::parse_str(raw).ok());
    let error = error.as_ref().unwrap_or(event);
    let text = |key: &str| error.string(key).map(Cow::into_owned);
    ErrorKind::Failed {
        code: text("code").unwrap_or_else(|| "server_error".to_owned()),
        message: text("message").unwrap_or_else(|| "the server gave no reason".to_owned()),
    }
    .into()
}

fn without_response() -> Error {
    ErrorKind::UnexpectedAnswer("its last event has no 'response'".to_owned()).into()
}

fn unreadable(error: &serde_json::Error) -> Error {
    ErrorKind::UnexpectedAnswer(format!("an event is not a JSON object: {error}")).into()
}

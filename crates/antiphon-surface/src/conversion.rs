//! Conversion of a model's answer into another dialect.

use antiphon::dialect::{self, Dialect, RequestContext, UnknownDialect, Writer};
use antiphon::json::Object;
use antiphon::stream::{self, Assembler, Envelope, Form, Permission, UsedIds};
use antiphon::{IdSource, Origin};
use bytes::Bytes;

/// Converts one answer while it streams. For any input, the output is one well-formed stream that
/// ends.
pub struct Conversion {
    conversion: dialect::Conversion,
}

/// The reason why a conversion cannot start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConversionRefused {
    /// An unknown dialect.
    #[error("{argument}: {error}")]
    Dialect {
        /// The argument.
        argument: &'static str,
        /// The unknown name and the known ones.
        error: UnknownDialect,
    },
    /// A dialect that can only be read.
    #[error("to: cannot convert to '{0}'; use responses, chat or anthropic")]
    UnsupportedTarget(Dialect),
    /// The request is not a JSON object.
    #[error("request: not a JSON object: {0}")]
    Request(String),
    /// An unknown set of event names.
    #[error("event_names: '{0}' is unknown; use openai or open-responses")]
    EventNames(String),
}

/// An event for the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The event's type.
    pub name: String,
    /// The event as JSON, on one line.
    pub data: Bytes,
}

/// The end of a conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    /// The last events for the client; from [`convert`](crate::convert), all events.
    pub events: Vec<Event>,
    /// The whole answer as one JSON object.
    pub folded: String,
    /// Whether an event stream of the answer ends with `data: [DONE]`.
    pub ends_with_done: bool,
    /// The corrections to the input, one sentence each.
    pub notes: Vec<String>,
    /// The fault in the input, if it has one.
    pub error: Option<String>,
}

/// Identifiers from the random numbers of the operating system.
#[derive(Clone, Copy, Debug)]
pub struct OsIds;

impl IdSource for OsIds {
    fn fill(&mut self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system has random numbers");
    }
}

impl Conversion {
    /// A conversion of an answer in the dialect `from` (`responses`, `chat`, `anthropic` or
    /// `ai-sdk`) for a client of the dialect `to` (`responses`, `chat` or `anthropic`).
    ///
    /// `request` is the answered request in the form of the Responses API, if known. `event_names`
    /// is `openai` or `open-responses`. `now` is in Unix seconds.
    pub fn new(
        from: &str,
        to: &str,
        request: Option<&Bytes>,
        event_names: Option<&str>,
        now: i64,
    ) -> Result<Self, ConversionRefused> {
        let from = dialect("from", from)?;
        let to = dialect("to", to)?;
        let writer = Writer::new(to).ok_or(ConversionRefused::UnsupportedTarget(to))?;
        let form = form(event_names.unwrap_or("openai"))?;
        let request = match request {
            None => Object::default(),
            Some(text) => Object::parse(text)
                .map_err(|error| ConversionRefused::Request(error.to_string()))?,
        };
        let envelope = Envelope::new(&OsIds.issue("resp"), now, &request, None);
        let assembler = Assembler::new(envelope, UsedIds::default(), Box::new(OsIds), true)
            .with_form(form)
            .with_permission(Permission::from_request(&request));
        let context = RequestContext::from_request(&request, &[], Origin::new(from.name()));
        let conversion = dialect::Conversion::new(from, context, assembler, writer);
        Ok(Self { conversion })
    }

    /// Converts the next bytes, which may be cut anywhere: an event stream, or one JSON object per
    /// line. Returns the events for the client.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        self.conversion.push(bytes).into_iter().map(Event::from_engine).collect()
    }

    /// Ends the input. `now` is in Unix seconds.
    pub fn finish(self, now: i64) -> Converted {
        let converted = self.conversion.finish(now);
        Converted {
            events: converted.events.into_iter().map(Event::from_engine).collect(),
            folded: converted.folded,
            ends_with_done: converted.ends_with_done,
            notes: converted.finished.notes.iter().map(ToString::to_string).collect(),
            error: converted.error.map(|error| error.to_string()),
        }
    }
}

/// Converts a whole answer: the bytes of an event stream, or one JSON object per line. The
/// arguments are those of [`Conversion::new`].
pub fn convert(
    answer: &[u8],
    from: &str,
    to: &str,
    request: Option<&Bytes>,
    event_names: Option<&str>,
    now: i64,
) -> Result<Converted, ConversionRefused> {
    let mut conversion = Conversion::new(from, to, request, event_names, now)?;
    let mut events = conversion.push(answer);
    let converted = conversion.finish(now);
    events.extend(converted.events);
    Ok(Converted { events, ..converted })
}

impl Event {
    fn from_engine(event: stream::Event) -> Self {
        Self { name: event.kind.into_owned(), data: event.data }
    }

    /// The event in the form of an event stream: `event`, `data`, an empty line.
    pub fn sse(&self) -> Bytes {
        let kind = self.name.clone().into();
        stream::Event { kind, data: self.data.clone() }.to_sse()
    }
}

fn dialect(argument: &'static str, name: &str) -> Result<Dialect, ConversionRefused> {
    name.parse().map_err(|error| ConversionRefused::Dialect { argument, error })
}

fn form(names: &str) -> Result<Form, ConversionRefused> {
    match names {
        "openai" => Ok(Form::OpenAi),
        "open-responses" => Ok(Form::OpenResponses),
        other => Err(ConversionRefused::EventNames(other.to_owned())),
    }
}

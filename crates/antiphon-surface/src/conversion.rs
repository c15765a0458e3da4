//! One model's answer in another dialect.

use antiphon::dialect::{self, Asked, Dialect, UnknownDialect, Writer};
use antiphon::json::Object;
use antiphon::stream::{self, Assembler, Envelope, Form, Permission, Taken};
use antiphon::{IdSource, Origin};
use bytes::Bytes;

/// Converts one answer as it comes. Whatever comes in, what goes out is one well-formed stream that
/// ends.
pub struct Conversion {
    conversion: dialect::Conversion,
    says_done: bool,
}

/// Why nothing is converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConversionRefused {
    /// No dialect is called so.
    #[error("{argument}: {error}")]
    Dialect {
        /// Which argument.
        argument: &'static str,
        /// Which dialects there are.
        error: UnknownDialect,
    },
    /// The dialect is heard but not written.
    #[error("to: '{0}' is not written; responses and anthropic are")]
    NotWritten(Dialect),
    /// The request is no JSON object.
    #[error("request: this is no JSON object: {0}")]
    Request(String),
    /// The names of events are neither provider's.
    #[error("event_names: '{0}' is neither 'openai' nor 'open-responses'")]
    EventNames(String),
}

/// What a client is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The event's type.
    pub name: String,
    /// The event as JSON, in one line.
    pub data: Bytes,
}

/// The end of a conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    /// What the client is told last.
    pub events: Vec<Event>,
    /// The whole answer as one JSON object.
    pub folded: String,
    /// What was put right, a sentence each.
    pub notes: Vec<String>,
    /// What was wrong with the input.
    pub error: Option<String>,
}

/// Identifiers from the operating system's random numbers.
#[derive(Clone, Copy, Debug)]
pub struct OsIds;

impl IdSource for OsIds {
    fn fill(&mut self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system has random numbers");
    }
}

impl Conversion {
    /// A conversion of an answer in the dialect `from` (`responses`, `chat`, `anthropic` or `ai-sdk`)
    /// for a client that speaks `to` (`responses` or `anthropic`).
    ///
    /// `request` is the request that is answered, as the Responses API has it, as far as there is one;
    /// `event_names` is `openai` or `open-responses`; `now` is in Unix seconds.
    pub fn new(
        from: &str,
        to: &str,
        request: Option<&Bytes>,
        event_names: Option<&str>,
        now: i64,
    ) -> Result<Self, ConversionRefused> {
        let from = dialect("from", from)?;
        let to = dialect("to", to)?;
        let writer = Writer::new(to).ok_or(ConversionRefused::NotWritten(to))?;
        let form = form(event_names.unwrap_or("openai"))?;
        let request = match request {
            None => Object::default(),
            Some(text) => Object::parse(text)
                .map_err(|error| ConversionRefused::Request(error.to_string()))?,
        };
        let envelope = Envelope::new(&OsIds.issue("resp"), now, &request, None);
        let assembler = Assembler::new(envelope, Taken::default(), Box::new(OsIds), true)
            .in_form(form)
            .permitting(Permission::of(&request));
        let asked = Asked::of(&request, Origin::new(from.name()));
        let says_done = writer.says_done();
        let conversion = dialect::Conversion::new(from, asked, assembler, writer);
        Ok(Self { conversion, says_done })
    }

    /// Whether `data: [DONE]` ends an event stream of the dialect.
    pub fn says_done(&self) -> bool {
        self.says_done
    }

    /// Takes the next bytes, wherever they are cut: an event stream, or one JSON object a line. What
    /// the client is told by them.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        self.conversion.push(bytes).into_iter().map(Event::of).collect()
    }

    /// The input is over. `now` is in Unix seconds.
    pub fn finish(self, now: i64) -> Converted {
        let converted = self.conversion.finish(now);
        Converted {
            events: converted.events.into_iter().map(Event::of).collect(),
            folded: converted.folded,
            notes: converted.finished.notes.iter().map(ToString::to_string).collect(),
            error: converted.error.map(|error| error.to_string()),
        }
    }
}

impl Event {
    fn of(event: stream::Event) -> Self {
        Self { name: event.kind.into_owned(), data: event.data }
    }

    /// The event as it stands in an event stream: `event`, `data`, a blank line.
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

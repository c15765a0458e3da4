//! A stream of one dialect in, a stream of another out.

use bytes::Bytes;

use super::{Asked, Dialect, Listener, Writer};
use crate::stream::{Assembler, Decoder, Event, Failure, Finished, Lines, TooLong};

/// The bound on one event. A completed response stands in one event.
const MAX_EVENT: usize = 64 << 20;

/// Converts one upstream's answer: event streams and JSON are told apart by their first byte. JSON
/// is one event a line, or, where its first line is not whole, one whole answer.
///
/// Guarantee: whatever comes in, what goes out is one well-formed stream that ends. What is no event
/// ends the response as failed, and is named by its line.
pub struct Conversion {
    input: Input,
    listener: Listener,
    assembler: Assembler,
    writer: Writer,
    from: Dialect,
    /// Whether the client was told anything yet.
    has_told: bool,
    error: Option<ConversionError>,
}

/// How the upstream's events are told apart.
enum Input {
    /// Nothing has come yet but blanks.
    Unknown { blanks: Vec<u8> },
    /// Server-sent events.
    EventStream(Decoder),
    /// One JSON object a line.
    Ndjson(Lines),
    /// One JSON object in all.
    Document(Vec<u8>),
}

/// Input that is no stream of the dialect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConversionError {
    /// A line that holds no JSON object.
    #[error("line {line}: this is no JSON object: {reason}")]
    Malformed {
        /// The line's number, from 1.
        line: u64,
        /// What a JSON parser says.
        reason: String,
    },
    /// A line, or an event, over the limit.
    #[error("{0}")]
    TooLong(#[from] TooLong),
    /// There was input, and nothing in it was of the dialect.
    #[error("there is no answer in the dialect '{dialect}' in the input")]
    NotOfDialect {
        /// The dialect.
        dialect: Dialect,
    },
    /// The input ended before the response did.
    #[error("the input ended before the response did")]
    BrokeOff,
}

/// The end of a conversion.
pub struct Converted {
    /// What the client is told last.
    pub events: Vec<Event>,
    /// The response, and what was put right in it.
    pub finished: Finished,
    /// The answer in one piece, in the dialect of the output.
    pub folded: String,
    /// What was wrong with the input.
    pub error: Option<ConversionError>,
}

impl Conversion {
    /// A conversion of an answer in the dialect `from`, to a request of which `asked` is known.
    pub fn new(from: Dialect, asked: Asked, assembler: Assembler, writer: Writer) -> Self {
        Self {
            input: Input::Unknown { blanks: Vec::new() },
            listener: Listener::new(from, asked),
            assembler,
            writer,
            from,
            has_told: false,
            error: None,
        }
    }

    /// Takes the next bytes; what the client is told by them.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        if let Err(error) = self.hear(bytes) {
            self.break_off(error);
        }
        self.told()
    }

    /// The input is over. `now` in Unix seconds.
    pub fn finish(mut self, now: i64) -> Converted {
        if let Err(error) = self.hear_last() {
            self.break_off(error);
        }
        self.listener.over(&mut self.assembler);
        let mut events = self.told();
        if !self.assembler.has_ended() {
            self.break_off(self.missing_end());
            events.extend(self.told());
        }
        let Self { assembler, mut writer, error, .. } = self;
        let mut finished = assembler.finish(now);
        events.extend(writer.end(&finished));
        let folded = writer.fold(&finished);
        finished.notes.extend(writer.left_out(&finished));
        Converted { events, finished, folded, error }
    }

    fn hear(&mut self, bytes: &[u8]) -> Result<(), ConversionError> {
        self.input.push(bytes);
        while let Some((line, data)) = self.input.next(false)? {
            self.hear_event(line, &data)?;
        }
        Ok(())
    }

    fn hear_last(&mut self) -> Result<(), ConversionError> {
        if let Input::Document(text) = &mut self.input {
            let text = std::mem::take(text).into();
            let heard = self.listener.hear_whole(&text, &mut self.assembler);
            return heard.map_err(|error| malformed(&error));
        }
        while let Some((line, data)) = self.input.next(true)? {
            self.hear_event(line, &data)?;
        }
        Ok(())
    }

    fn hear_event(&mut self, line: u64, data: &Bytes) -> Result<(), ConversionError> {
        match self.listener.hear(data, &mut self.assembler) {
            Err(error) if error.is_eof() && self.input.has_one_line_so_far() => {
                self.input.is_a_document(data);
                Ok(())
            }
            Err(error) => Err(ConversionError::Malformed { line, reason: without_place(&error) }),
            Ok(()) => Ok(()),
        }
    }

    /// Why a response that has not ended has not.
    fn missing_end(&self) -> ConversionError {
        match self.has_told || self.input.is_empty() {
            true => ConversionError::BrokeOff,
            false => ConversionError::NotOfDialect { dialect: self.from },
        }
    }

    /// The first error is the one to tell; the response ends with it.
    fn break_off(&mut self, error: ConversionError) {
        if !self.assembler.has_ended() {
            self.assembler.fail(Failure::server_error(sentence(&error)));
        }
        self.error.get_or_insert(error);
    }

    fn told(&mut self) -> Vec<Event> {
        let mut told = Vec::new();
        while let Some(event) = self.assembler.next_event() {
            self.has_told = true;
            told.extend(self.writer.event(event));
        }
        told
    }
}

/// A document that is no JSON object, with the line where it stops being one.
fn malformed(error: &serde_json::Error) -> ConversionError {
    let line = u64::try_from(error.line()).unwrap_or(u64::MAX);
    ConversionError::Malformed { line, reason: without_place(error) }
}

/// What a JSON parser says, without the place in what it was given.
fn without_place(error: &serde_json::Error) -> String {
    let sentence = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    sentence.strip_suffix(&place).unwrap_or(&sentence).to_owned()
}

/// What a client is told of it: nothing of what the line holds.
fn sentence(error: &ConversionError) -> String {
    match error {
        ConversionError::Malformed { line, .. } => {
            format!("Line {line} of the upstream's stream is no JSON object.")
        }
        ConversionError::TooLong(TooLong { limit }) => {
            format!("An event of the upstream's stream is over {limit} bytes.")
        }
        ConversionError::NotOfDialect { .. } => {
            "The upstream answered with something else than an answer of its API.".into()
        }
        ConversionError::BrokeOff => {
            "The upstream's answer broke off before it was complete.".into()
        }
    }
}

impl Input {
    fn push(&mut self, bytes: &[u8]) {
        match self {
            Self::EventStream(decoder) => decoder.push(bytes),
            Self::Ndjson(lines) => lines.push(bytes),
            Self::Document(text) => text.extend_from_slice(bytes),
            Self::Unknown { blanks } => {
                blanks.extend_from_slice(bytes);
                let first = blanks.iter().copied().find(|byte| !is_blank(*byte));
                if let Some(first) = first {
                    let held = std::mem::take(blanks);
                    *self = Self::beginning_with(first);
                    self.push(&held);
                }
            }
        }
    }

    fn beginning_with(first: u8) -> Self {
        match first {
            b'{' | b'[' => Self::Ndjson(Lines::new(MAX_EVENT)),
            _ => Self::EventStream(Decoder::new(MAX_EVENT)),
        }
    }

    /// Whether all that was read so far is one line of JSON.
    fn has_one_line_so_far(&self) -> bool {
        matches!(self, Self::Ndjson(lines) if lines.number() == 1)
    }

    /// What seemed to be a line is the beginning of one JSON object.
    fn is_a_document(&mut self, first_line: &[u8]) {
        if let Self::Ndjson(lines) = self {
            let mut text = first_line.to_vec();
            text.push(b'\n');
            text.extend_from_slice(&lines.take());
            *self = Self::Document(text);
        }
    }

    /// Whether nothing has come but blanks.
    fn is_empty(&self) -> bool {
        matches!(self, Self::Unknown { .. })
    }

    /// The next event and the number of its line. `is_over`: there is nothing more to come.
    fn next(&mut self, is_over: bool) -> Result<Option<(u64, Bytes)>, TooLong> {
        match self {
            Self::Unknown { .. } | Self::Document(_) => Ok(None),
            Self::EventStream(decoder) => {
                let frame = if is_over { decoder.finish()? } else { decoder.next_frame()? };
                Ok(frame.map(|frame| (decoder.data_line(), frame.data)))
            }
            Self::Ndjson(lines) => {
                let line = match lines.next_line()? {
                    None if is_over => lines.rest(),
                    line => line,
                };
                Ok(line.map(|line| (lines.number(), line.freeze())))
            }
        }
    }
}

/// A byte order mark counts as a blank.
fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, 0xef | 0xbb | 0xbf)
}

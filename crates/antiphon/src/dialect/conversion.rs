//! Converts a stream of one dialect into a stream of another.

use bytes::Bytes;

use super::{Dialect, RequestContext, StreamDecoder, Writer};
use crate::stream::{Assembler, Decoder, Event, Failure, Finished, Lines, TooLong};

/// The maximum size of one event. A completed response is one event.
const MAX_EVENT: usize = 64 << 20;

/// Converts the answer of one upstream. The first byte decides between an event stream and JSON.
/// JSON is one event per line, or one whole answer if its first line is incomplete JSON.
///
/// Guarantee: for any input, the output is one well-formed stream that ends. Invalid input ends the
/// response as failed, and the error contains the line.
pub struct Conversion {
    input: Input,
    decoder: StreamDecoder,
    assembler: Assembler,
    writer: Writer,
    from: Dialect,
    /// Whether any event has been written.
    has_output: bool,
    error: Option<ConversionError>,
}

/// The format of the input.
enum Input {
    /// Unknown, because the input so far is blank.
    Unknown { blanks: Vec<u8> },
    /// Server-sent events.
    EventStream(Decoder),
    /// One JSON object per line.
    Ndjson(Lines),
    /// One JSON object.
    Document(Vec<u8>),
}

/// Input that is not a valid stream of the dialect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConversionError {
    /// A line is not a JSON object.
    #[error("line {line}: this is not a JSON object: {reason}")]
    Malformed {
        /// The line's number, from 1.
        line: u64,
        /// The message of the JSON parser.
        reason: String,
    },
    /// A line or an event exceeds the limit.
    #[error("{0}")]
    TooLong(#[from] TooLong),
    /// The input has content, but none in the dialect.
    #[error("there is no answer in the dialect '{dialect}' in the input")]
    WrongDialect {
        /// The dialect.
        dialect: Dialect,
    },
    /// The input ended before the response did.
    #[error("the input ended before the response did")]
    Truncated,
}

/// The end of a conversion.
pub struct Converted {
    /// The last events for the client.
    pub events: Vec<Event>,
    /// The response, and the notes about repairs and omissions.
    pub finished: Finished,
    /// The whole answer as one object, in the dialect of the output.
    pub folded: String,
    /// Whether an event stream ends with `[DONE]`.
    pub ends_with_done: bool,
    /// The first error in the input.
    pub error: Option<ConversionError>,
}

impl Conversion {
    /// A conversion of an answer in the dialect `from`. `context` describes the request.
    pub fn new(
        from: Dialect,
        context: RequestContext,
        assembler: Assembler,
        writer: Writer,
    ) -> Self {
        Self {
            input: Input::Unknown { blanks: Vec::new() },
            decoder: StreamDecoder::new(from, context),
            assembler,
            writer,
            from,
            has_output: false,
            error: None,
        }
    }

    /// Converts the next bytes, and returns the new events for the client.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        if let Err(error) = self.decode(bytes) {
            self.break_off(error);
        }
        self.take_events()
    }

    /// Whether the response has ended. Later input is ignored.
    pub fn has_ended(&self) -> bool {
        self.assembler.has_ended()
    }

    /// Ends the input. `now` is in Unix seconds.
    pub fn finish(mut self, now: i64) -> Converted {
        if let Err(error) = self.decode_rest() {
            self.break_off(error);
        }
        self.decoder.finish(&mut self.assembler);
        let mut events = self.take_events();
        if !self.assembler.has_ended() {
            self.break_off(self.missing_end());
            events.extend(self.take_events());
        }
        let Self { assembler, mut writer, error, .. } = self;
        let mut finished = assembler.finish(now);
        events.extend(writer.end(&finished));
        let folded = writer.fold(&finished);
        finished.notes.extend(writer.left_out(&finished));
        let ends_with_done = writer.ends_with_done();
        Converted { events, finished, folded, ends_with_done, error }
    }

    fn decode(&mut self, bytes: &[u8]) -> Result<(), ConversionError> {
        self.input.push(bytes);
        while let Some((line, data)) = self.input.next(false)? {
            self.decode_event(line, &data)?;
        }
        Ok(())
    }

    fn decode_rest(&mut self) -> Result<(), ConversionError> {
        if let Input::Document(text) = &mut self.input {
            let text = std::mem::take(text).into();
            let decoded = self.decoder.decode_whole(&text, &mut self.assembler);
            return decoded.map_err(|error| document_error(&error));
        }
        while let Some((line, data)) = self.input.next(true)? {
            self.decode_event(line, &data)?;
        }
        Ok(())
    }

    fn decode_event(&mut self, line: u64, data: &Bytes) -> Result<(), ConversionError> {
        match self.decoder.decode(data, &mut self.assembler) {
            Err(error) if error.is_eof() && self.input.has_one_line_so_far() => {
                self.input.switch_to_document(data);
                Ok(())
            }
            Err(error) => {
                Err(ConversionError::Malformed { line, reason: message_without_position(&error) })
            }
            Ok(()) => Ok(()),
        }
    }

    /// The error for a response that the input did not end.
    fn missing_end(&self) -> ConversionError {
        match self.has_output || self.input.is_empty() {
            true => ConversionError::Truncated,
            false => ConversionError::WrongDialect { dialect: self.from },
        }
    }

    /// Records the error if it is the first one, and ends the response with it.
    fn break_off(&mut self, error: ConversionError) {
        if !self.assembler.has_ended() {
            self.assembler.fail(Failure::server_error(client_message(&error)));
        }
        self.error.get_or_insert(error);
    }

    fn take_events(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.assembler.next_event() {
            self.has_output = true;
            events.extend(self.writer.event(event));
        }
        events
    }
}

/// The error for a document that is not a JSON object, with the line of the syntax error.
fn document_error(error: &serde_json::Error) -> ConversionError {
    let line = u64::try_from(error.line()).unwrap_or(u64::MAX);
    ConversionError::Malformed { line, reason: message_without_position(error) }
}

/// The message of a JSON parser, without the position.
fn message_without_position(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    message.strip_suffix(&position).unwrap_or(&message).to_owned()
}

/// The message for the client. It contains nothing of the input.
fn client_message(error: &ConversionError) -> String {
    match error {
        ConversionError::Malformed { line, .. } => {
            format!("Line {line} of the upstream's stream is not a JSON object.")
        }
        ConversionError::TooLong(TooLong { limit }) => {
            format!("An event of the upstream's stream is over {limit} bytes.")
        }
        ConversionError::WrongDialect { .. } => {
            "The upstream's answer does not have the form of its API.".into()
        }
        ConversionError::Truncated => {
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
                    *self = Self::from_first_byte(first);
                    self.push(&held);
                }
            }
        }
    }

    fn from_first_byte(first: u8) -> Self {
        match first {
            b'{' | b'[' => Self::Ndjson(Lines::new(MAX_EVENT)),
            _ => Self::EventStream(Decoder::new(MAX_EVENT)),
        }
    }

    /// Whether the input so far is one line of JSON.
    fn has_one_line_so_far(&self) -> bool {
        matches!(self, Self::Ndjson(lines) if lines.number() == 1)
    }

    /// Treats the first line as the beginning of one JSON object.
    fn switch_to_document(&mut self, first_line: &[u8]) {
        if let Self::Ndjson(lines) = self {
            let mut text = first_line.to_vec();
            text.push(b'\n');
            text.extend_from_slice(&lines.take());
            *self = Self::Document(text);
        }
    }

    /// Whether the input so far is blank.
    fn is_empty(&self) -> bool {
        matches!(self, Self::Unknown { .. })
    }

    /// The next event and its line number. `is_over` means that the input has ended.
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

/// Whether the byte is blank. A byte order mark counts as blank.
fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, 0xef | 0xbb | 0xbf)
}

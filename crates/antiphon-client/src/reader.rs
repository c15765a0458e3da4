//! Reads an answer: bytes in, events out.

use std::collections::VecDeque;

use antiphon::dialect::{Conversion, ConversionError, Dialect, RequestContext, Writer};
use antiphon::item::IdSource;
use antiphon::json::Object;
use antiphon::stateful::Turn;
use antiphon::stream::{Assembler, Decoder, Envelope, Event, UsedIds};
use antiphon::transcript::{Origin, Transcript};
use bytes::Bytes;
use futures_util::stream::{Stream, unfold};

use crate::answer::{LOCAL_ID, ResponseIds};
use crate::client::MarkStale;
use crate::client::unix_now;
use crate::connection::{AnswerBody, HttpAnswer};
use crate::ids::RandomIds;
use crate::{AnswerEvent, Answered, Error, ErrorKind};

/// The maximum size of one event.
const MAX_EVENT: usize = 64 << 20;

/// An answer that is being received.
///
/// ```text
///   Receiving ── terminal event, error or end ──> Over
/// ```
pub(crate) struct Reader {
    body: AnswerBody,
    form: Form,
    sealer: Sealer,
    /// The events that were read, but not taken.
    events: VecDeque<Result<AnswerEvent, Error>>,
    is_over: bool,
    /// Marks the conversation as changed after the answer.
    stale: Option<MarkStale>,
}

/// The form of an answer.
enum Form {
    /// An event stream that a turn corrects.
    Events { turn: Box<Turn>, decoder: Decoder },
    /// One response object of a turn.
    Whole { turn: Box<Turn> },
    /// An answer in any dialect; `None` after its end.
    Dialect(Option<Box<Conversion>>),
}

/// The ids and the encrypted reasoning of an answer.
pub(crate) struct Sealer {
    /// The origin of its reasoning, if the caller has to return it.
    pub(crate) origin: Option<Origin>,
    /// The owner of its ids.
    pub(crate) ids: ResponseIds,
}

impl Reader {
    /// Reads the answer to the request of a turn.
    pub(crate) fn from_turn(mut turn: Box<Turn>, answer: HttpAnswer, sealer: Sealer) -> Self {
        let is_event_stream = answer.is_event_stream();
        turn.start(is_event_stream, unix_now());
        let form = match is_event_stream {
            true => Form::Events { turn, decoder: Decoder::new(MAX_EVENT) },
            false => Form::Whole { turn },
        };
        Self::new(form, answer, sealer)
    }

    /// Reads an answer in a dialect. `context` describes the request, and `envelope` the response.
    pub(crate) fn from_dialect(
        dialect: Dialect,
        context: Option<RequestContext>,
        envelope: Envelope,
        answer: HttpAnswer,
        sealer: Sealer,
    ) -> Self {
        let used = UsedIds::item_ids_only(&Transcript::default());
        let assembler = Assembler::new(envelope, used, Box::new(RandomIds), true).keeping_form();
        let context =
            context.unwrap_or_else(|| RequestContext::unknown(Origin::new(dialect.name())));
        let writer = Writer::new(Dialect::Responses).expect("answers are written in it");
        let conversion = Conversion::new(dialect, context, assembler, writer);
        Self::new(Form::Dialect(Some(Box::new(conversion))), answer, sealer)
    }

    fn new(form: Form, answer: HttpAnswer, sealer: Sealer) -> Self {
        let events = VecDeque::new();
        Self { body: answer.body, form, sealer, events, is_over: false, stale: None }
    }

    /// Marks a conversation as changed at the end of the answer, however it ends.
    pub(crate) fn until_its_end(self, stale: Option<MarkStale>) -> Self {
        Self { stale, ..self }
    }

    /// The events, up to the terminal one or an error.
    pub(crate) fn into_events(self) -> impl Stream<Item = Result<AnswerEvent, Error>> + Send {
        unfold(self, async |mut reader| {
            let event = reader.next().await?;
            Some((event, reader))
        })
    }

    async fn next(&mut self) -> Option<Result<AnswerEvent, Error>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            if self.is_over {
                return None;
            }
            match self.body.next().await {
                Some(Ok(bytes)) => self.push(&bytes),
                Some(Err(error)) => self.fail(error),
                None => self.finish(),
            }
            if self.is_over {
                self.stale = None;
                self.body.drain().await;
            }
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        match &mut self.form {
            Form::Events { turn, decoder } => {
                decoder.push(&turn.push(bytes, unix_now()));
                self.read_frames();
            }
            Form::Whole { turn } => {
                // A turn returns the whole answer at its end, unless it is too long.
                if !turn.push(bytes, unix_now()).is_empty() {
                    self.fail(invalid(format!("it is longer than {MAX_EVENT} bytes")));
                }
            }
            Form::Dialect(conversion) => {
                let Some(current) = conversion else { return };
                let events = current.push(bytes);
                let ended = if current.has_ended() { conversion.take() } else { None };
                self.read_events(events);
                if let Some(ended) = ended {
                    self.finish_conversion(*ended);
                }
            }
        }
    }

    /// Reads the end of the body.
    fn finish(&mut self) {
        match &mut self.form {
            Form::Events { turn, decoder } => {
                decoder.push(&turn.finish(unix_now()));
                self.read_frames();
                // The turn ends the stream itself if the server did not.
                if let Some(Err(error)) = self.events.back_mut()
                    && matches!(error.kind(), ErrorKind::Failed { .. })
                {
                    *error = broke_off();
                }
            }
            Form::Whole { turn } => {
                let response = turn.finish(unix_now());
                let answered = Answered::read(response.clone(), self.sealer.ids);
                let event = answered.and_then(|_| whole_event(&response));
                match event {
                    Ok(event) => self.read_events(vec![event]),
                    Err(error) => self.fail(error),
                }
            }
            Form::Dialect(conversion) => {
                if let Some(conversion) = conversion.take() {
                    self.finish_conversion(*conversion);
                }
            }
        }
        if !self.is_over {
            self.fail(broke_off());
        }
    }

    fn finish_conversion(&mut self, conversion: Conversion) {
        let converted = conversion.finish(unix_now());
        match converted.error {
            None => self.read_events(converted.events),
            Some(ConversionError::Truncated) => self.fail(broke_off()),
            Some(error) => self.fail(invalid(error.to_string())),
        }
    }

    fn read_frames(&mut self) {
        let Form::Events { decoder, .. } = &mut self.form else { return };
        let mut events = Vec::new();
        let mut is_too_long = false;
        loop {
            match decoder.next_frame() {
                Ok(Some(frame)) if frame.data != "[DONE]" => {
                    let kind = String::from_utf8_lossy(&frame.event).into_owned().into();
                    events.push(Event { kind, data: frame.data });
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => {
                    is_too_long = true;
                    break;
                }
            }
        }
        self.read_events(events);
        if is_too_long {
            self.fail(invalid(format!("an event is longer than {MAX_EVENT} bytes")));
        }
    }

    fn read_events(&mut self, events: Vec<Event>) {
        for event in events {
            if self.is_over {
                return;
            }
            let event = AnswerEvent::read(event, self.sealer.ids);
            let event = event.map(|event| match &self.sealer.origin {
                Some(origin) => event.sealed(origin),
                None => event,
            });
            self.is_over = event.as_ref().map_or(true, AnswerEvent::is_last);
            self.events.push_back(event);
        }
    }

    fn fail(&mut self, error: Error) {
        if !self.is_over {
            self.is_over = true;
            self.events.push_back(Err(error));
        }
    }
}

/// The terminal event of an answer in one piece.
fn whole_event(response: &Bytes) -> Result<Event, Error> {
    let object = Object::parse(response).map_err(|error| invalid(error.to_string()))?;
    let status = object.string("status");
    let kind = match status.as_deref() {
        Some("incomplete") => "response.incomplete",
        _ => "response.completed",
    };
    let response = object.to_text();
    let data = format!(r#"{{"type":"{kind}","sequence_number":0,"response":{response}}}"#);
    Ok(Event { kind: kind.into(), data: data.into() })
}

/// An id for a response to which the server gives none.
pub(crate) fn local_id() -> String {
    RandomIds.issue(LOCAL_ID)
}

fn broke_off() -> Error {
    ErrorKind::BrokeOff("it ended before it was complete".to_owned()).into()
}

fn invalid(reason: String) -> Error {
    ErrorKind::UnexpectedAnswer(reason).into()
}

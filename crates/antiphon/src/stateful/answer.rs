//! Reads the items of an answer while it is forwarded.

use bytes::Bytes;

use super::local_ids::LocalIds;
use crate::item::{FingerprintKey, Item, parse_items};
use crate::json::Object;
use crate::stream::{Decoder, Frame};
use crate::transcript::HeldItem;

/// The maximum size of an event, and of an answer in one piece, that is read. A longer one is still
/// forwarded to its caller, but the state of the conversation is then uncertain.
const LONGEST: usize = 64 << 20;

/// An answer that is being received.
///
/// ```text
///   Events ── a terminal event, or an event over the limit ──> Over
///   Whole ── the end, or a body over the limit ──> Over
/// ```
#[derive(Debug)]
pub(super) enum AnswerReader {
    Events { decoder: Box<Decoder>, partial: Partial },
    Whole(Vec<u8>),
    Over,
}

/// The content of an answer before its terminal event.
#[derive(Debug, Default)]
pub(super) struct Partial {
    id: Option<String>,
    /// The completed items, without their bytes, by their output index.
    done: Vec<(u64, HeldItem)>,
}

/// The result of an answer.
#[derive(Debug)]
pub(super) struct ModelAnswer {
    /// The id of the response.
    pub(super) id: Option<String>,
    /// Whether the server has all of its output: the status is `completed`, or `incomplete` at a
    /// limit.
    pub(super) is_whole: bool,
    /// The items of the model, without their bytes.
    pub(super) output: Vec<HeldItem>,
}

/// Creates the stored form of items, which has no bytes.
pub(super) struct Tracer<'a> {
    pub(super) key: FingerprintKey,
    pub(super) ids: &'a mut LocalIds,
}

impl AnswerReader {
    pub(super) fn new(is_event_stream: bool) -> Self {
        match is_event_stream {
            true => Self::Events {
                decoder: Box::new(Decoder::new(LONGEST)),
                partial: Partial::default(),
            },
            false => Self::Whole(Vec::new()),
        }
    }

    /// Takes the next bytes. Returns the result after the terminal event.
    pub(super) fn push(&mut self, bytes: &[u8], tracer: &mut Tracer<'_>) -> Option<ModelAnswer> {
        match self {
            Self::Events { decoder, .. } => decoder.push(bytes),
            Self::Whole(body) if body.len() + bytes.len() <= LONGEST => body.extend(bytes),
            Self::Whole(_) => *self = Self::Over,
            Self::Over => {}
        }
        self.next(Decoder::next_frame, tracer)
    }

    /// Takes the end of the answer. Returns its result, if it has one.
    pub(super) fn finish(&mut self, tracer: &mut Tracer<'_>) -> Option<ModelAnswer> {
        match self.take_body() {
            Some(body) => ModelAnswer::from_response(&body, Vec::new(), tracer),
            None => self.next(Decoder::finish, tracer),
        }
    }

    /// Takes the bytes of a complete answer in one piece.
    pub(super) fn take_body(&mut self) -> Option<Bytes> {
        let Self::Whole(body) = self else { return None };
        let body = Bytes::from(std::mem::take(body));
        *self = Self::Over;
        Some(body)
    }

    fn next(
        &mut self,
        next: impl Fn(&mut Decoder) -> Result<Option<Frame>, crate::stream::TooLong>,
        tracer: &mut Tracer<'_>,
    ) -> Option<ModelAnswer> {
        let Self::Events { decoder, partial } = self else { return None };
        let answer = loop {
            match next(decoder) {
                Ok(None) => return None,
                Ok(Some(frame)) => {
                    if let Some(answer) = partial.take_event(&frame, tracer) {
                        break Some(answer);
                    }
                }
                Err(_) => break None,
            }
        };
        *self = Self::Over;
        answer
    }
}

impl Partial {
    fn take_event(&mut self, frame: &Frame, tracer: &mut Tracer<'_>) -> Option<ModelAnswer> {
        if !has_content(&frame.event) {
            return None;
        }
        let event = Object::parse(&frame.data).ok()?;
        let kind = event.string("type");
        match kind.as_deref().or_else(|| std::str::from_utf8(&frame.event).ok())? {
            "response.created" | "response.in_progress" => {
                let id = event.object("response").and_then(|it| it.string("id").map(String::from));
                self.id = id.or(self.id.take());
                None
            }
            "response.output_item.done" => {
                let place = event.get("output_index").and_then(|raw| raw.parse().ok());
                let item = Item::parse(frame.data.slice_ref(event.get("item")?.as_bytes())).ok()?;
                self.done.push((place.unwrap_or(u64::MAX), tracer.trace(&item)));
                None
            }
            "response.completed" | "response.incomplete" => {
                let response = frame.data.slice_ref(event.get("response")?.as_bytes());
                Some(self.end(&response, tracer))
            }
            "response.failed" | "response.cancelled" | "error" => {
                Some(ModelAnswer { id: self.id.take(), is_whole: false, output: Vec::new() })
            }
            _ => None,
        }
    }

    /// Builds the result from the terminal event. Some servers omit the output there.
    fn end(&mut self, response: &Bytes, tracer: &mut Tracer<'_>) -> ModelAnswer {
        let mut done = std::mem::take(&mut self.done);
        done.sort_by_key(|(place, _)| *place);
        let done: Vec<HeldItem> = done.into_iter().map(|(_, item)| item).collect();
        let id = self.id.take();
        match ModelAnswer::from_response(response, done, tracer) {
            Some(answer) => ModelAnswer { id: answer.id.or(id), ..answer },
            None => ModelAnswer { id, is_whole: false, output: Vec::new() },
        }
    }
}

/// Whether an event with this name, or without a name, can have content to read.
fn has_content(name: &[u8]) -> bool {
    matches!(
        name,
        b"" | b"error"
            | b"message"
            | b"response.created"
            | b"response.in_progress"
            | b"response.output_item.done"
            | b"response.completed"
            | b"response.incomplete"
            | b"response.failed"
            | b"response.cancelled"
    )
}

impl ModelAnswer {
    /// Reads a list of created items.
    pub(super) fn from_list(list: &Bytes, tracer: &mut Tracer<'_>) -> Option<Self> {
        let fields = Object::parse(list).ok()?;
        let items = parse_items(&list.slice_ref(fields.get("data")?.as_bytes())).ok()?;
        let output = items.iter().map(|item| tracer.trace(item)).collect();
        Some(Self { id: None, is_whole: true, output })
    }

    /// Reads a response object. `done` has the items of earlier events, for a response without
    /// output.
    fn from_response(
        response: &Bytes,
        done: Vec<HeldItem>,
        tracer: &mut Tracer<'_>,
    ) -> Option<Self> {
        let fields = Object::parse(response).ok()?;
        let status = fields.string("status");
        let is_whole = matches!(status.as_deref(), Some("completed" | "incomplete"));
        let id = fields.string("id").map(String::from).filter(|id| !id.is_empty());
        let output = match fields.present("output") {
            Some(raw) => parse_items(&response.slice_ref(raw.as_bytes())).ok()?,
            None => Vec::new(),
        };
        let output = match output.is_empty() {
            true => done,
            false => output.iter().map(|item| tracer.trace(item)).collect(),
        };
        Some(Self { id, is_whole, output })
    }
}

impl Tracer<'_> {
    fn trace(&mut self, item: &Item) -> HeldItem {
        let id = item.head().id.clone().unwrap_or_else(|| self.ids.issue());
        HeldItem::new(id, item, self.key, None).without_body()
    }
}

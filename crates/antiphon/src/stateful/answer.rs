//! Reads the items of an answer while it is forwarded.

use std::fmt;

use bytes::Bytes;

use super::correction::{CorrectedEnd, EventCorrection, WholeCorrection};
use super::local_ids::{KeyedIds, LocalIds};
use super::request::Request;
use crate::item::{FingerprintKey, Item, parse_items};
use crate::json::Object;
use crate::stream::Status;
use crate::transcript::HeldItem;

/// The maximum size of an answer in one piece that is read. A longer one is still forwarded to its
/// caller, but the state of the conversation is then uncertain.
const LONGEST: usize = 64 << 20;

/// An answer that is being received.
///
/// ```text
///   Events ── the terminal event, or the end ──> Over
///   Whole ── the end ──> Over
///     '──── a body over the limit ──> Unread
/// ```
pub(super) enum AnswerReader {
    /// An event stream. If the response runs in the background, its events pass unchanged, because
    /// the caller can ask the server for the rest by the number of an event.
    Events { correction: Box<EventCorrection>, in_background: bool },
    /// An answer in one piece.
    Whole(Box<WholeCorrection>),
    /// The rest of an answer that is too long.
    Unread,
    /// The answer has ended.
    Over,
}

/// The next bytes for the caller, and the result of an answer that has ended.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) bytes: Bytes,
    pub(super) answer: Option<ModelAnswer>,
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
    /// Creates the reader of the answer to `request`. `now` is in Unix seconds.
    pub(super) fn new(is_event_stream: bool, request: &Request, now: i64, ids: KeyedIds) -> Self {
        match is_event_stream {
            true => Self::Events {
                correction: Box::new(EventCorrection::new(request, now, ids)),
                in_background: request.in_background,
            },
            false => Self::Whole(Box::new(WholeCorrection::new(request, now, ids))),
        }
    }

    /// Takes the next bytes. The result is there after the terminal event. `now` is in Unix
    /// seconds.
    pub(super) fn push(&mut self, bytes: &[u8], now: i64, tracer: &mut Tracer<'_>) -> Read {
        match self {
            Self::Events { correction, in_background } => {
                let events = correction.push(bytes);
                let shown = if *in_background { Bytes::copy_from_slice(bytes) } else { events };
                match correction.has_ended() {
                    true => self.finish(now, tracer).after(&shown),
                    false => Read::unread(shown),
                }
            }
            Self::Whole(whole) if whole.length() + bytes.len() <= LONGEST => {
                whole.push(bytes);
                Read::default()
            }
            Self::Whole(_) => {
                let held = self.take_body().unwrap_or_default();
                *self = Self::Unread;
                Read::unread(Bytes::copy_from_slice(bytes)).after(&held)
            }
            Self::Unread => Read::unread(Bytes::copy_from_slice(bytes)),
            Self::Over => Read::default(),
        }
    }

    /// Takes the end of the answer. `now` is in Unix seconds.
    pub(super) fn finish(&mut self, now: i64, tracer: &mut Tracer<'_>) -> Read {
        match std::mem::replace(self, Self::Over) {
            Self::Events { correction, in_background } => {
                let end = correction.finish(now);
                let bytes = if in_background { Bytes::new() } else { end.bytes.clone() };
                Read { bytes, answer: Some(ModelAnswer::from_events(end, tracer)) }
            }
            Self::Whole(whole) => {
                let bytes = whole.finish(now);
                let answer = ModelAnswer::from_response(&bytes, tracer);
                Read { bytes, answer }
            }
            Self::Unread | Self::Over => Read::default(),
        }
    }

    /// Takes the bytes of an answer in one piece, as received.
    pub(super) fn take_body(&mut self) -> Option<Bytes> {
        match std::mem::replace(self, Self::Over) {
            Self::Whole(whole) => Some(whole.into_body()),
            _ => None,
        }
    }
}

impl Read {
    fn unread(bytes: Bytes) -> Self {
        Self { bytes, answer: None }
    }

    /// The same with these bytes before its own.
    fn after(self, bytes: &Bytes) -> Self {
        let bytes = [bytes.as_ref(), self.bytes.as_ref()].concat().into();
        Self { bytes, ..self }
    }
}

impl fmt::Debug for AnswerReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Events { .. } => "Events",
            Self::Whole(_) => "Whole",
            Self::Unread => "Unread",
            Self::Over => "Over",
        })
    }
}

impl ModelAnswer {
    /// Reads a list of created items.
    pub(super) fn from_list(list: &Bytes, tracer: &mut Tracer<'_>) -> Option<Self> {
        let fields = Object::parse(list).ok()?;
        let items = parse_items(&list.slice_ref(fields.get("data")?.as_bytes())).ok()?;
        let output = items.iter().map(|item| tracer.trace(item)).collect();
        Some(Self { id: None, is_whole: true, output })
    }

    /// Reads a response object.
    fn from_response(response: &Bytes, tracer: &mut Tracer<'_>) -> Option<Self> {
        let fields = Object::parse(response).ok()?;
        let status = fields.string("status");
        let is_whole = matches!(status.as_deref(), Some("completed" | "incomplete"));
        let id = fields.string("id").map(String::from).filter(|id| !id.is_empty());
        let output = match fields.present("output") {
            Some(raw) => parse_items(&response.slice_ref(raw.as_bytes())).ok()?,
            None => Vec::new(),
        };
        let output = output.iter().map(|item| tracer.trace(item)).collect();
        Some(Self { id, is_whole, output })
    }

    fn from_events(end: CorrectedEnd, tracer: &mut Tracer<'_>) -> Self {
        let CorrectedEnd { id, finished, .. } = end;
        let is_whole = matches!(finished.status, Status::Completed | Status::Incomplete);
        let output = finished.output.iter().map(|output| tracer.trace(&output.announced)).collect();
        Self { id, is_whole, output }
    }
}

impl Tracer<'_> {
    fn trace(&mut self, item: &Item) -> HeldItem {
        let id = item.head().id.clone().unwrap_or_else(|| self.ids.issue());
        HeldItem::new(id, item, self.key, None).without_body()
    }
}

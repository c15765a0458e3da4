//! An answer's events as they come.

use std::collections::VecDeque;

use antiphon::stream::Decoder;
use bytes::Bytes;
use http::{HeaderMap, Response, header};
use http_body_util::{BodyExt, Collected};
use hyper::body::Incoming;
use serde_json::Value;

use super::answer::Turn;
use super::schema::assert_event_shape;
use super::watchdog::soon;

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    /// Its `event` field, which its type has to equal.
    pub(crate) name: String,
    pub(crate) json: Value,
    /// Its `data` field as it came.
    pub(crate) data: Bytes,
}

/// A stream of events; who drops it leaves.
pub(crate) struct Events {
    headers: HeaderMap,
    body: Incoming,
    decoder: Decoder,
    /// Decoded and not yet read.
    ahead: VecDeque<Event>,
    seen: Vec<Event>,
    done: bool,
}

impl Events {
    /// A stream that begins well.
    pub(super) async fn from_answer(response: Response<Incoming>) -> Self {
        let (head, body) = response.into_parts();
        if head.status != 200 {
            let body = soon("the refusal ends", body.collect()).await;
            panic!("{}: {:?}", head.status, body.map(Collected::to_bytes));
        }
        assert_eq!(head.headers[header::CONTENT_TYPE], "text/event-stream");
        Self {
            headers: head.headers,
            body,
            decoder: Decoder::new(usize::MAX),
            ahead: VecDeque::new(),
            seen: Vec::new(),
            done: false,
        }
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// A header that the answer must have.
    pub(crate) fn header(&self, name: &str) -> String {
        let value = self.headers.get(name).unwrap_or_else(|| panic!("the answer has {name}"));
        value.to_str().expect("it is text").to_owned()
    }

    /// The events that were read so far.
    pub(crate) fn seen(&self) -> &[Event] {
        &self.seen
    }

    /// Reads so many bytes and leaves; the events that are whole in them.
    pub(crate) async fn first_bytes(mut self, mut count: usize) -> Vec<Event> {
        while count > 0 {
            let mut piece = self.next_chunk().await.expect("the stream is longer");
            piece.truncate(count);
            count -= piece.len();
            self.push(&piece);
        }
        self.ahead.into()
    }

    /// The next event; none after `[DONE]`, which must be the last.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        while self.ahead.is_empty() {
            let Some(piece) = self.next_chunk().await else {
                assert!(self.done, "the stream ends with [DONE]");
                return None;
            };
            self.push(&piece);
        }
        let event = self.ahead.pop_front();
        self.seen.extend(event.clone());
        event
    }

    /// Reads on until an event of this name, which is given.
    pub(crate) async fn until(&mut self, name: &str) -> Event {
        loop {
            let event = self.next().await;
            let event = event.unwrap_or_else(|| panic!("{name} comes before the end"));
            if event.name == name {
                return event;
            }
        }
    }

    /// Reads to the end; all events, those read before too.
    pub(crate) async fn all(mut self) -> Vec<Event> {
        while self.next().await.is_some() {}
        self.seen
    }

    /// Reads to the end; the turn, which must be well-formed.
    pub(crate) async fn ended(self) -> Turn {
        Turn::streamed(self).await
    }

    /// The id that the first event announces.
    pub(crate) async fn response_id(&mut self) -> String {
        let created = self.until("response.created").await;
        let id = created.json["response"]["id"].as_str();
        id.expect("a response has an id").to_owned()
    }

    async fn next_chunk(&mut self) -> Option<Bytes> {
        let frame = soon("the stream goes on", self.body.frame()).await?;
        let frame = frame.expect("the stream does not break");
        Some(frame.into_data().expect("a stream has no trailers"))
    }

    fn push(&mut self, piece: &Bytes) {
        self.decoder.push(piece);
        while let Some(frame) = self.decoder.next_frame().expect("there is no limit") {
            self.take(&frame.event, frame.data);
        }
    }

    /// Every event that a gateway sends in any test has the shape that the specification gives it.
    fn take(&mut self, name: &[u8], data: Bytes) {
        assert!(!self.done, "nothing follows [DONE]: {data:?}");
        if data == "[DONE]" {
            self.done = true;
            return;
        }
        let json: Value = serde_json::from_slice(&data).expect("an event is JSON");
        let name = String::from_utf8_lossy(name).into_owned();
        assert_eq!(json["type"], *name, "an event is named by its type");
        assert_event_shape(&json);
        self.ahead.push_back(Event { name, json, data });
    }
}

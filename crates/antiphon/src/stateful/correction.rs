//! Makes the answer of a server that stores its responses well-formed.

use bytes::Bytes;

use super::local_ids::KeyedIds;
use super::request::Request;
use crate::dialect::{Conversion, Dialect, RequestContext, Writer};
use crate::item::{IdSource as _, Item, parse_items};
use crate::json::{Object, replace_array};
use crate::stream::{Assembler, Event, Finished, UsedIds};
use crate::transcript::{Origin, Transcript};

/// An event stream, corrected event by event.
///
/// The response keeps the server's id and fields, and its items keep their ids, because the server
/// knows them by these. Only an item without an id, or with the id of another item, gets a new one.
pub(super) struct EventCorrection {
    conversion: Conversion,
    /// The response's id if the server gives none.
    local_id: String,
}

/// The end of an event stream.
pub(super) struct CorrectedEnd {
    /// The last events.
    pub(super) bytes: Bytes,
    /// The server's id of the response.
    pub(super) id: Option<String>,
    pub(super) finished: Finished,
}

impl EventCorrection {
    /// `now` is in Unix seconds.
    pub(super) fn new(request: &Request, now: i64, ids: KeyedIds) -> Self {
        let (assembler, local_id) = assembler(request, now, ids);
        let context = RequestContext::unknown(Origin::new(Dialect::Responses.name()));
        let writer = Writer::new(Dialect::Responses).expect("answers are written in it");
        let conversion = Conversion::new(Dialect::Responses, context, assembler, writer);
        Self { conversion, local_id }
    }

    /// Takes the next bytes, and returns the events that result.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Bytes {
        event_stream(&self.conversion.push(bytes))
    }

    /// Whether the terminal event has arrived.
    pub(super) fn has_ended(&self) -> bool {
        self.conversion.has_ended()
    }

    /// Ends the stream. The response fails if the server did not end it. `now` is in Unix seconds.
    pub(super) fn finish(self, now: i64) -> CorrectedEnd {
        let converted = self.conversion.finish(now);
        let response = Object::parse(converted.finished.envelope.as_bytes()).unwrap_or_default();
        let id = response.string("id").filter(|id| *id != self.local_id).map(String::from);
        let bytes = event_stream(&converted.events);
        CorrectedEnd { bytes, id, finished: converted.finished }
    }
}

/// An answer in one piece, as received so far.
pub(super) struct WholeCorrection {
    body: Vec<u8>,
    assembler: Assembler,
}

impl WholeCorrection {
    /// `now` is in Unix seconds.
    pub(super) fn new(request: &Request, now: i64, ids: KeyedIds) -> Self {
        Self { body: Vec::new(), assembler: assembler(request, now, ids).0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.body.extend(bytes);
    }

    pub(super) fn length(&self) -> usize {
        self.body.len()
    }

    /// The bytes as received.
    pub(super) fn into_body(self) -> Bytes {
        self.body.into()
    }

    /// The response with each item once; the bytes as received if nothing is wrong, or if they are
    /// not a response that has ended well. `now` is in Unix seconds.
    pub(super) fn finish(mut self, now: i64) -> Bytes {
        let body = Bytes::from(self.body);
        let Some((mut response, given)) = parse_response(&body) else { return body.clone() };
        if self.assembler.apply_response(&body).is_err() {
            return body.clone();
        }
        let output = self.assembler.finish(now).output;
        let output: Vec<Item> = output.into_iter().map(|output| output.announced).collect();
        if output.iter().map(Item::raw).eq(given.iter().map(Item::raw)) {
            return body.clone();
        }
        response.set("output", replace_array("[]", 0..2, output.iter().map(Item::text)));
        response.to_bytes()
    }
}

/// A response that has ended well, and its items.
fn parse_response(body: &Bytes) -> Option<(Object<'_>, Vec<Item>)> {
    let response = Object::parse(body).ok()?;
    let has_ended =
        matches!(response.string("status").as_deref(), Some("completed" | "incomplete"));
    let output = body.slice_ref(response.present("output")?.as_bytes());
    has_ended.then_some((response, parse_items(&output).ok()?))
}

/// The assembler of the answer, and the id of a response to which the server gives none.
fn assembler(request: &Request, now: i64, mut ids: KeyedIds) -> (Assembler, String) {
    let local_id = ids.issue("resp");
    let envelope = request.envelope(&local_id, now).owned_by_upstream();
    let used = UsedIds::item_ids_only(&Transcript::default());
    (Assembler::new(envelope, used, Box::new(ids), true).keeping_form(), local_id)
}

fn event_stream(events: &[Event]) -> Bytes {
    match events {
        [] => Bytes::new(),
        [event] => event.to_sse(),
        events => events.iter().map(Event::to_sse).collect::<Vec<_>>().concat().into(),
    }
}

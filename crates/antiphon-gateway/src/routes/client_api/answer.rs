//! Writes the answer of a turn in the client's API.

use std::convert::Infallible;

use antiphon::dialect::Writer;
use antiphon::json::Object;
use antiphon::stream::Event;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use http::StatusCode;

use super::super::json;
use super::super::responses::sse;
use crate::turn::{Answer, Head, OutgoingEvent};

/// The answer, streamed or whole.
pub(super) fn write(answer: Answer, mut writer: Writer) -> Response {
    match answer {
        Answer::Whole(Head(headers), response) => {
            let response = response.to_bytes();
            let response = Object::parse(&response).expect("a turn answers with an object");
            (status(&response), headers, json(writer.fold_response(&response))).into_response()
        }
        Answer::Stream(Head(headers), events) => {
            let events = events.into_stream();
            let written =
                events.flat_map(move |event| stream::iter(write_event(event, &mut writer)));
            (headers, sse(written)).into_response()
        }
    }
}

/// The answer, with the events of a stream as the elements of one array. A stream that is cut ends
/// without the end of the array.
pub(super) fn write_array(answer: Answer, mut writer: Writer) -> Response {
    match answer {
        Answer::Whole(..) => write(answer, writer),
        Answer::Stream(Head(headers), events) => {
            let events = events.into_stream();
            let mut array = ArrayWriter::default();
            let pieces = events.flat_map(move |event| {
                let is_end = matches!(event, OutgoingEvent::Done);
                let written = write_event(event, &mut writer);
                stream::iter(array.write(written, is_end))
            });
            (headers, json(array_body(pieces))).into_response()
        }
    }
}

fn array_body(pieces: impl Stream<Item = Bytes> + Send + 'static) -> Body {
    Body::from_stream(pieces.map(Ok::<_, Infallible>))
}

/// Writes the pieces of an array.
#[derive(Default)]
struct ArrayWriter {
    has_begun: bool,
}

impl ArrayWriter {
    fn write(&mut self, events: Vec<OutgoingEvent>, is_end: bool) -> Vec<Bytes> {
        let mut pieces = Vec::new();
        for event in events.into_iter().filter_map(OutgoingEvent::into_event) {
            let separator: &[u8] = if self.has_begun { b",\r\n" } else { b"[" };
            self.has_begun = true;
            pieces.push(Bytes::from([separator, &event.data].concat()));
        }
        if is_end {
            let end: &[u8] = if self.has_begun { b"]" } else { b"[]" };
            pieces.push(Bytes::from_static(end));
        }
        pieces
    }
}

/// The status of a whole answer. A failed response is an error in the APIs of these clients.
fn status(response: &Object<'_>) -> StatusCode {
    let error = response.present("error").and_then(|raw| Object::parse_str(raw).ok());
    let code = error.as_ref().and_then(|error| error.string("code"));
    match (response.string("status").as_deref(), code.as_deref()) {
        (Some("completed" | "incomplete"), _) => StatusCode::OK,
        (_, Some("rate_limit_exceeded" | "rate_limit_error")) => StatusCode::TOO_MANY_REQUESTS,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The events of the client's API for one event of a response.
fn write_event(event: OutgoingEvent, writer: &mut Writer) -> Vec<OutgoingEvent> {
    let Some(event) = event.into_event() else {
        return match writer.ends_with_done() {
            true => vec![OutgoingEvent::Done],
            false => Vec::new(),
        };
    };
    let written = match &*event.kind {
        "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
            end(&event, writer)
        }
        _ => writer.event(event),
    };
    written.into_iter().map(OutgoingEvent::Event).collect()
}

/// The end of the stream, from the terminal event of the response.
fn end(event: &Event, writer: &mut Writer) -> Vec<Event> {
    let fields = Object::parse(&event.data).expect("events are objects");
    let response = fields.get("response").and_then(|raw| Object::parse_str(raw).ok());
    writer.end_response(&response.unwrap_or_default())
}

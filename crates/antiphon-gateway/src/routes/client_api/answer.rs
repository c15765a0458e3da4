//! Writes the answer of a turn in the client's API.

use antiphon::dialect::Writer;
use antiphon::json::Object;
use antiphon::stream::Event;
use axum::response::{IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};

use super::super::json;
use super::super::responses::sse;
use crate::turn::{Answer, Head, OutgoingEvent};

/// The answer, streamed or whole.
pub(super) fn write(answer: Answer, mut writer: Writer) -> Response {
    match answer {
        Answer::Whole(Head(headers), response) => {
            let response = response.to_bytes();
            let response = Object::parse(&response).expect("a turn answers with an object");
            (headers, json(writer.fold_response(&response))).into_response()
        }
        Answer::Stream(Head(headers), events) => {
            let events = events.into_stream();
            let written =
                events.flat_map(move |event| stream::iter(write_event(event, &mut writer)));
            (headers, sse(written)).into_response()
        }
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

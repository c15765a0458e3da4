//! Writes the answer of a turn in the client's API.

use antiphon::dialect::Writer;
use antiphon::json::Object;
use antiphon::stream::Event;
use axum::response::{IntoResponse as _, Response};
use futures_util::{StreamExt as _, stream};
use http::StatusCode;

use super::super::json;
use super::super::responses::sse;
use crate::error::ErrorBody;
use crate::turn::{Answer, Head, OutgoingEvent};

/// The answer, streamed or whole.
pub(super) fn write(answer: Answer, mut writer: Writer) -> Response {
    match answer {
        Answer::Whole(Head(headers), response) => {
            let response = response.to_bytes();
            let response = Object::parse(&response).expect("a turn answers with an object");
            (headers, write_whole(&response, &writer)).into_response()
        }
        Answer::Stream(Head(headers), events) => {
            let events = events.into_stream();
            let written =
                events.flat_map(move |event| stream::iter(write_event(event, &mut writer)));
            (headers, sse(written)).into_response()
        }
    }
}

/// The whole answer. A failed response is an error, other than in the Responses API: clients of the
/// other APIs read only the status.
fn write_whole(response: &Object<'_>, writer: &Writer) -> Response {
    match response.string("status").as_deref() {
        Some("completed" | "incomplete") => json(writer.fold_response(response)),
        _ => failure(response),
    }
}

/// The error of a response that failed, in OpenAI's form.
fn failure(response: &Object<'_>) -> Response {
    let error = response.present("error").and_then(|raw| Object::parse_str(raw).ok());
    let text = |key| error.as_ref().and_then(|error| error.string(key));
    let code = text("code").unwrap_or_default();
    let message = text("message").unwrap_or("The response was cancelled.".into());
    let (status, kind) = match &*code {
        "rate_limit_exceeded" | "rate_limit_error" => (429, "rate_limit_error"),
        "invalid_prompt" | "invalid_request_error" => (400, "invalid_request_error"),
        "overloaded_error" | "server_is_overloaded" => (503, "server_error"),
        _ => (500, "server_error"),
    };
    let status = StatusCode::from_u16(status).expect("it is a status");
    let body = ErrorBody { message: &message, kind, param: None, code: Some(&code) };
    (status, json(body.to_json())).into_response()
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

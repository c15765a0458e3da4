//! Messages to clients.

use antiphon::json::{Object, quote};
use antiphon::stream::Event;
use bytes::{BufMut, Bytes, BytesMut};
use http::HeaderMap;
use serde_json::Value;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::error::ApiError;
use crate::lane::StreamId;
use crate::request_id::{REQUEST_ID, RequestId};

/// An event of a response, with the name of its lane.
pub(super) fn event(stream: Option<&StreamId>, event: Event) -> Utf8Bytes {
    let data = match stream {
        None => event.data,
        Some(stream) => with_stream_id(&event.data, stream),
    };
    Utf8Bytes::try_from(data).expect("an event is JSON")
}

fn with_stream_id(event: &[u8], stream: &StreamId) -> Bytes {
    // An event of an upstream may end in blanks.
    let open = event.trim_ascii_end().strip_suffix(b"}").expect("an event is an object");
    let mut with_stream_id = BytesMut::with_capacity(event.len() + stream.as_str().len() + 16);
    with_stream_id.put_slice(open);
    with_stream_id.put_slice(br#","stream_id":""#);
    with_stream_id.put_slice(stream.as_str().as_bytes());
    with_stream_id.put_slice(br#""}"#);
    with_stream_id.freeze()
}

/// An error after which the connection stays open. It has the status, the provider's error object,
/// the id of the request, and the headers that clients act on.
pub(super) fn error(stream: Option<&StreamId>, id: &RequestId, error: &ApiError) -> Utf8Bytes {
    let mut frame = Object::default();
    frame.set("type", r#""error""#);
    frame.set("status", error.status().as_u16().to_string());
    if let Some(stream) = stream {
        frame.set_string("stream_id", stream.as_str());
    }
    frame.set("error", error_object(error));
    frame.set("headers", headers(id, &error.headers()).to_string());
    frame.to_text().into()
}

/// The error object of the upstream, unchanged; otherwise the gateway's own.
fn error_object(error: &ApiError) -> String {
    if let ApiError::Upstream(refused) = error {
        let body = Object::parse(&refused.body).ok();
        let object = body.as_ref().and_then(|body| body.present("error"));
        if let Some(object) = object.filter(|object| object.starts_with('{')) {
            return object.to_owned();
        }
    }
    error.to_object()
}

fn headers(id: &RequestId, headers: &HeaderMap) -> Value {
    let is_for_the_caller = |name: &str| {
        name == "link" || name.starts_with("retry-after") || name.starts_with("x-ratelimit")
    };
    let fields = headers.iter().filter(|(name, _)| is_for_the_caller(name.as_str()));
    let fields = fields.filter_map(|(name, value)| {
        Some((name.as_str().to_owned(), Value::from(value.to_str().ok()?)))
    });
    let id = (REQUEST_ID.as_str().to_owned(), Value::from(id.as_str()));
    let fields: serde_json::Map<_, _> = fields.chain([id]).collect();
    fields.into()
}

/// The rejection of a `response.steer`, with its input unchanged.
pub(super) fn steer_failed(response: &str, input: &str) -> Utf8Bytes {
    let message = "This server does not steer responses. Send the input with a response.create.";
    let message = quote(message);
    let error = format!(
        r#"{{"type":"invalid_request_error","code":"steering_not_supported","message":{message}}}"#
    );
    let steer = format!(r#"{{"previous_response_id":{response},"input":{input}}}"#);
    format!(
        r#"{{"type":"response.steer.failed","sequence_number":0,"error":{error},"steer":{steer}}}"#
    )
    .into()
}

//! The declared media type of a body.

use http::{HeaderMap, header};

/// The type without parameters, in lower case. Empty if none is declared.
pub(crate) fn media_type(headers: &HeaderMap) -> String {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = content_type.unwrap_or_default().split(';').next().unwrap_or_default();
    media_type.trim().to_ascii_lowercase()
}

/// Whether the type is `application/json` or another type with JSON syntax.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let media_type = media_type(headers);
    media_type == "application/json" || media_type.ends_with("+json")
}

/// Whether the type is that of server-sent events.
pub(crate) fn is_event_stream(headers: &HeaderMap) -> bool {
    media_type(headers) == "text/event-stream"
}

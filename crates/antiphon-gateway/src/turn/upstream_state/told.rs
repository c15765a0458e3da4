//! The stored part of a response that its upstream owns: its id and status, never its content.

use antiphon::json::Object;
use bytes::Bytes;

/// The response object of the record.
pub(super) fn envelope_of(id: &str, status: &str) -> Bytes {
    let mut envelope = Object::default();
    envelope.set_string("id", id);
    envelope.set_string("object", "response");
    envelope.set_string("status", status);
    envelope.to_bytes()
}

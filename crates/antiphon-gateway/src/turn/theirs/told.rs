//! What is kept of a response that its upstream keeps: its name and how it ended, never what it says.

use antiphon::json::Object;
use bytes::Bytes;

/// The record's response object.
pub(super) fn envelope_of(id: &str, status: &str) -> Bytes {
    let mut envelope = Object::default();
    envelope.set_string("id", id);
    envelope.set_string("object", "response");
    envelope.set_string("status", status);
    envelope.to_bytes()
}

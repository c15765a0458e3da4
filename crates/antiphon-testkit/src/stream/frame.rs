//! One server-sent event as it goes over the wire.

use bytes::Bytes;
use serde_json::Value;

/// The bytes of one server-sent event, or bytes that only pretend to be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    name: Option<String>,
    bytes: Bytes,
}

impl Frame {
    /// An event named by its own `type`: `event: T`, `data: {...}`, an empty line.
    pub fn event(event: &Value) -> Self {
        let name = event["type"].as_str().unwrap_or_default();
        let bytes = Bytes::from(format!("event: {name}\ndata: {event}\n\n"));
        Self { name: Some(name.to_owned()), bytes }
    }

    /// The end of a stream: `data: [DONE]`.
    pub fn done() -> Self {
        Self::raw("data: [DONE]\n\n")
    }

    /// Any bytes, sent as they are.
    pub fn raw(bytes: impl Into<Bytes>) -> Self {
        Self { name: None, bytes: bytes.into() }
    }

    /// The event's type; none for raw bytes and the end of a stream.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The event itself; none for raw bytes and the end of a stream.
    pub fn json(&self) -> Option<Value> {
        self.name.as_ref()?;
        let text = std::str::from_utf8(&self.bytes).ok()?;
        let (_, payload) = text.split_once("\ndata: ")?;
        serde_json::from_str(payload.trim_end()).ok()
    }

    /// The bytes on the wire.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

impl From<Frame> for Bytes {
    fn from(frame: Frame) -> Self {
        frame.bytes
    }
}

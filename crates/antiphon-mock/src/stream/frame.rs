//! One server-sent event in wire form.

use bytes::Bytes;
use serde_json::Value;

/// The bytes of one server-sent event, or any other bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    name: Option<String>,
    json: Option<Value>,
    bytes: Bytes,
}

impl Frame {
    /// An event with the name of its `type`: `event: T`, `data: {...}`, an empty line.
    pub fn event(event: &Value) -> Self {
        let name = event["type"].as_str().unwrap_or_default();
        let bytes = Bytes::from(format!("event: {name}\ndata: {event}\n\n"));
        Self { name: Some(name.to_owned()), json: Some(event.clone()), bytes }
    }

    /// An event without a name: `data: {...}`, an empty line.
    pub fn data(event: &Value) -> Self {
        Self { json: Some(event.clone()), ..Self::raw(format!("data: {event}\n\n")) }
    }

    /// The end marker of a stream: `data: [DONE]`.
    pub fn done() -> Self {
        Self::raw("data: [DONE]\n\n")
    }

    /// Any bytes, unchanged.
    pub fn raw(bytes: impl Into<Bytes>) -> Self {
        Self { name: None, json: None, bytes: bytes.into() }
    }

    /// The event's name; `None` for unnamed data, raw bytes and the end marker.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The event; `None` for raw bytes and the end marker.
    pub fn json(&self) -> Option<Value> {
        self.json.clone()
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

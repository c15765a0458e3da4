//! A received span.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyValue;
use opentelemetry_proto::tonic::common::v1::{AnyValue as Any, KeyValue};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{Span as Received, span};

/// A received span, with its ids in hexadecimal digits.
#[derive(Clone, Debug)]
pub struct Span {
    /// The name.
    pub name: String,
    /// The kind.
    pub kind: Kind,
    /// The id of its trace.
    pub trace: String,
    /// Its id.
    pub id: String,
    /// The id of its parent; empty for a root.
    pub parent: String,
    /// Whether the parent is in another process.
    pub has_remote_parent: bool,
    /// The W3C trace state.
    pub state: String,
    /// Nanoseconds since 1970.
    pub start: u64,
    /// Nanoseconds since 1970.
    pub end: u64,
    /// The attributes.
    pub attributes: BTreeMap<String, Value>,
    /// The attributes of its resource.
    pub resource: BTreeMap<String, Value>,
    /// The names and attributes of its events.
    pub events: Vec<(String, BTreeMap<String, Value>)>,
    /// The traces and spans that it has links to.
    pub links: Vec<(String, String)>,
    /// Whether its status is an error.
    pub is_error: bool,
    /// The number of attributes that occur more than once.
    pub repeated_attributes: usize,
}

/// The kind of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An operation inside of the process.
    Internal,
    /// A request that the process answers.
    Server,
    /// A request that the process sends.
    Client,
    /// Any other kind.
    Other,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Double(f64),
    /// A list.
    List(Vec<Value>),
    /// Any other value, or none.
    Other,
}

/// The flag of a span whose parent is remote, and the flag that says whether that is known.
const HAS_REMOTE_PARENT: u32 = 0x300;

impl Span {
    pub(super) fn new(received: Received, resource: &BTreeMap<String, Value>) -> Self {
        let attributes = attributes(&received.attributes);
        let event = |it: &span::Event| (it.name.clone(), self::attributes(&it.attributes));
        let link = |link: &span::Link| (hex(&link.trace_id), hex(&link.span_id));
        Self {
            kind: Kind::new(received.kind()),
            trace: hex(&received.trace_id),
            id: hex(&received.span_id),
            parent: hex(&received.parent_span_id),
            has_remote_parent: received.flags & HAS_REMOTE_PARENT == HAS_REMOTE_PARENT,
            state: received.trace_state,
            start: received.start_time_unix_nano,
            end: received.end_time_unix_nano,
            repeated_attributes: received.attributes.len() - attributes.len(),
            attributes,
            resource: resource.clone(),
            events: received.events.iter().map(event).collect(),
            links: received.links.iter().map(link).collect(),
            is_error: received.status.is_some_and(|it| it.code() == StatusCode::Error),
            name: received.name,
        }
    }

    /// The text of an attribute; empty if there is none.
    pub fn text(&self, key: &str) -> &str {
        match self.attributes.get(key) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    /// The number in an attribute.
    pub fn int(&self, key: &str) -> Option<i64> {
        match self.attributes.get(key) {
            Some(Value::Int(number)) => Some(*number),
            _ => None,
        }
    }
}

impl Kind {
    fn new(kind: SpanKind) -> Self {
        match kind {
            SpanKind::Internal => Self::Internal,
            SpanKind::Server => Self::Server,
            SpanKind::Client => Self::Client,
            _ => Self::Other,
        }
    }
}

pub(super) fn attributes(pairs: &[KeyValue]) -> BTreeMap<String, Value> {
    pairs.iter().map(|pair| (pair.key.clone(), value(pair.value.as_ref()))).collect()
}

fn value(value: Option<&Any>) -> Value {
    match value.and_then(|value| value.value.as_ref()) {
        Some(AnyValue::StringValue(text)) => Value::Text(text.clone()),
        Some(AnyValue::BoolValue(is_true)) => Value::Bool(*is_true),
        Some(AnyValue::IntValue(number)) => Value::Int(*number),
        Some(AnyValue::DoubleValue(number)) => Value::Double(*number),
        Some(AnyValue::ArrayValue(list)) => {
            Value::List(list.values.iter().map(|it| self::value(Some(it))).collect())
        }
        _ => Value::Other,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes everything");
        text
    })
}

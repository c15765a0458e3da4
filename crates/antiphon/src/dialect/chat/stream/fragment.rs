//! The part of a call in one delta.

use std::borrow::Cow;

use super::answer::is_empty;
use crate::json::{Object, quote};

/// A fragment of a call. Empty fields are `None`.
pub(super) struct Fragment<'a> {
    /// The server's key of the call; `None` if the server does not send one.
    pub(super) key: Option<Key>,
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) name: Option<Cow<'a, str>>,
    /// Whether the server marks it as a custom tool call.
    pub(super) is_custom: bool,
    /// A piece of its arguments or its input, as a raw JSON string.
    pub(super) input: Option<Cow<'a, str>>,
    /// The raw `extra_content`, which the server requires in the next request: Gemini sends the
    /// signature of the thoughts before the call.
    pub(super) extra: Option<&'a str>,
}

/// The server-specific field of a call.
pub(super) const EXTRA: &str = "extra_content";

/// The server's key of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// Its `index` in `tool_calls`.
    Index(u64),
    /// The deprecated `function_call`, of which an answer has only one.
    FunctionCall,
}

/// The object with a call's fields: `function` or `custom`.
pub(super) struct Payload<'a> {
    fields: Object<'a>,
    is_custom: bool,
}

impl<'a> Payload<'a> {
    /// The payload of an entry of `tool_calls`.
    pub(super) fn from_call(call: &'a Object<'_>) -> Self {
        let custom = call.present("custom");
        let raw = custom.or_else(|| call.present("function")).unwrap_or("{}");
        let is_custom = custom.is_some() || call.string("type").as_deref() == Some("custom");
        Self { fields: Object::parse_str(raw).unwrap_or_default(), is_custom }
    }
}

impl<'a> Fragment<'a> {
    /// The fragment in an entry of `tool_calls`.
    pub(super) fn from_tool_call(call: &'a Object<'_>, payload: &'a Payload<'_>) -> Self {
        let index = call.get("index").map(|raw| raw.trim_matches('"'));
        let key = index.and_then(|digits| digits.parse().ok()).map(Key::Index);
        Self {
            key,
            id: text(call, "id"),
            is_custom: payload.is_custom,
            extra: call.get(EXTRA).filter(|raw| raw.starts_with('{') && !is_empty(raw)),
            ..Self::from_fields(&payload.fields)
        }
    }

    /// The fragment in a `function_call`.
    pub(super) fn from_function_call(call: &'a Object<'_>) -> Self {
        Self { key: Some(Key::FunctionCall), ..Self::from_fields(call) }
    }

    /// Whether all fields are empty.
    pub(super) fn is_empty(&self) -> bool {
        self.id.is_none() && self.name.is_none() && self.input.is_none() && self.extra.is_none()
    }

    fn from_fields(fields: &'a Object<'_>) -> Self {
        let input = fields.present("arguments").or_else(|| fields.present("input"));
        let input = input.and_then(as_string);
        let name = text(fields, "name");
        Self { key: None, id: None, name, is_custom: false, input, extra: None }
    }
}

/// Whether a field of an entry of `tool_calls` is left out.
pub(super) fn is_left_out(field: &str, raw: &str) -> bool {
    !["index", "id", "type", "function", "custom", EXTRA].contains(&field) && !is_empty(raw)
}

fn text<'a>(object: &'a Object<'_>, key: &str) -> Option<Cow<'a, str>> {
    object.string(key).filter(|text| !text.is_empty())
}

/// The arguments as a raw JSON string. Some servers send an object, which is converted into its
/// text.
fn as_string(raw: &str) -> Option<Cow<'_, str>> {
    match raw.as_bytes() {
        [b'"', .., b'"'] if raw.len() > 2 => Some(Cow::Borrowed(raw)),
        [b'{' | b'[', ..] => Some(Cow::Owned(quote(raw))),
        _ => None,
    }
}

//! What one delta says of one call.

use std::borrow::Cow;

use super::left_out::is_empty;
use crate::json::{Object, quote};

/// A piece of a call. What is empty in it is not there.
pub(super) struct Fragment<'a> {
    /// Where the server counts the call; `None` where it does not count.
    pub(super) key: Option<Key>,
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) name: Option<Cow<'a, str>>,
    /// Whether the server calls it a custom tool's.
    pub(super) is_custom: bool,
    /// A piece of its arguments or its input, as a raw JSON string.
    pub(super) input: Option<Cow<'a, str>>,
    /// What the server wants back with the call, a raw object: Gemini's `extra_content`, with the
    /// signature of the thoughts that led to the call.
    pub(super) extra: Option<&'a str>,
}

/// The field of a call that is its server's own.
pub(super) const EXTRA: &str = "extra_content";

/// Where a server counts a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// Its `index` in `tool_calls`.
    Index(u64),
    /// The `function_call` of the time before tools: there is but one.
    FunctionCall,
}

/// What a call's fields are nested in: `function`, or `custom`.
pub(super) struct Payload<'a> {
    fields: Object<'a>,
    is_custom: bool,
}

impl<'a> Payload<'a> {
    /// That of an entry of `tool_calls`.
    pub(super) fn of(call: &'a Object<'_>) -> Self {
        let custom = call.present("custom");
        let raw = custom.or_else(|| call.present("function")).unwrap_or("{}");
        let is_custom = custom.is_some() || call.string("type").as_deref() == Some("custom");
        Self { fields: Object::of(raw).unwrap_or_default(), is_custom }
    }
}

impl<'a> Fragment<'a> {
    /// The piece in an entry of `tool_calls`.
    pub(super) fn of_call(call: &'a Object<'_>, payload: &'a Payload<'_>) -> Self {
        let index = call.get("index").map(|raw| raw.trim_matches('"'));
        let key = index.and_then(|digits| digits.parse().ok()).map(Key::Index);
        Self {
            key,
            id: text(call, "id"),
            is_custom: payload.is_custom,
            extra: call.get(EXTRA).filter(|raw| raw.starts_with('{') && !is_empty(raw)),
            ..Self::of(&payload.fields)
        }
    }

    /// The piece in a `function_call`.
    pub(super) fn of_function_call(call: &'a Object<'_>) -> Self {
        Self { key: Some(Key::FunctionCall), ..Self::of(call) }
    }

    /// Whether it says nothing at all.
    pub(super) fn is_empty(&self) -> bool {
        self.id.is_none() && self.name.is_none() && self.input.is_none() && self.extra.is_none()
    }

    fn of(fields: &'a Object<'_>) -> Self {
        let input = fields.present("arguments").or_else(|| fields.present("input"));
        let input = input.and_then(as_string);
        let name = text(fields, "name");
        Self { key: None, id: None, name, is_custom: false, input, extra: None }
    }
}

/// Whether a field of an entry of `tool_calls` is lost.
pub(super) fn leaves_out(field: &str, raw: &str) -> bool {
    !["index", "id", "type", "function", "custom", EXTRA].contains(&field) && !is_empty(raw)
}

fn text<'a>(object: &'a Object<'_>, key: &str) -> Option<Cow<'a, str>> {
    object.string(key).filter(|text| !text.is_empty())
}

/// Arguments that a server gives as the JSON that they are count as the text of it.
fn as_string(raw: &str) -> Option<Cow<'_, str>> {
    match raw.as_bytes() {
        [b'"', .., b'"'] if raw.len() > 2 => Some(Cow::Borrowed(raw)),
        [b'{' | b'[', ..] => Some(Cow::Owned(quote(raw))),
        _ => None,
    }
}

//! A stream part.

use std::borrow::Cow;

use crate::json::Object;

/// The raw fields of a stream part.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    fields: &'a Object<'a>,
}

impl<'a> Part<'a> {
    pub(super) fn new(fields: &'a Object<'a>) -> Self {
        Self { fields }
    }

    /// The `type`.
    pub(super) fn kind(self) -> Option<Cow<'a, str>> {
        self.string("type")
    }

    /// The id that the parts of one text, reasoning or call share. Parts without an id belong
    /// together.
    pub(super) fn id(self) -> Cow<'a, str> {
        self.string("toolCallId").or_else(|| self.string("id")).unwrap_or_default()
    }

    /// The delta of text as a raw JSON string: `delta` in a model's part, `text` in a `fullStream`,
    /// `textDelta` in version 4.
    pub(super) fn delta(self) -> Option<&'a str> {
        let keys = ["delta", "text", "textDelta"].into_iter();
        keys.filter_map(|key| self.get(key)).find(|raw| raw.starts_with('"'))
    }

    /// The raw value under `key`. `null` counts as absent.
    pub(super) fn get(self, key: &str) -> Option<&'a str> {
        self.fields.present(key)
    }

    /// The string under `key`.
    pub(super) fn string(self, key: &str) -> Option<Cow<'a, str>> {
        self.fields.string(key)
    }

    /// Whether `key` holds `true`.
    pub(super) fn is_true(self, key: &str) -> bool {
        self.fields.is_true(key)
    }

    /// The object under `key`.
    pub(super) fn object(self, key: &str) -> Option<Object<'a>> {
        Object::parse(self.get(key)?.as_bytes()).ok()
    }

    /// The part as JSON.
    pub(super) fn to_text(self) -> String {
        self.fields.to_text()
    }
}

/// The inside of a raw JSON string, still escaped. Such strings can be concatenated.
pub(super) fn inside(raw: &str) -> &str {
    raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')).unwrap_or_default()
}

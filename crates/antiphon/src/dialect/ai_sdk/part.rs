//! One part of a stream.

use std::borrow::Cow;

use crate::json::Object;

/// A stream part as its fields, raw.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    fields: &'a Object<'a>,
}

impl<'a> Part<'a> {
    pub(super) fn new(fields: &'a Object<'a>) -> Self {
        Self { fields }
    }

    /// Its `type`.
    pub(super) fn kind(self) -> Option<Cow<'a, str>> {
        self.string("type")
    }

    /// What the parts of one text, one reasoning or one call have in common. Where there is none, all
    /// such parts belong together.
    pub(super) fn id(self) -> Cow<'a, str> {
        self.string("toolCallId").or_else(|| self.string("id")).unwrap_or_default()
    }

    /// The piece of text that it adds, a raw JSON string: `delta` of a model, `text` of a
    /// `fullStream`, `textDelta` of version 4.
    pub(super) fn delta(self) -> Option<&'a str> {
        let keys = ["delta", "text", "textDelta"].into_iter();
        keys.filter_map(|key| self.get(key)).find(|raw| raw.starts_with('"'))
    }

    /// The raw value under `key`, with `null` counted as absent.
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

/// The inside of a raw JSON string, still escaped: such insides, put together, are one.
pub(super) fn inside(raw: &str) -> &str {
    raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')).unwrap_or_default()
}

//! A part of an upstream's item.

use std::borrow::Cow;

use super::super::upstream_event::inside;
use super::super::vocabulary::TextKind;
use crate::item::Kind;
use crate::json::{Object, elements, quote};

/// A part of an upstream's item: its bytes and its fields.
///
/// If a server puts output text into reasoning, the part gets the type that reasoning has for
/// clients.
#[derive(Clone)]
pub(super) struct UpstreamPart<'a> {
    raw: Cow<'a, str>,
    fields: Object<'a>,
    /// The kind of its text; `None` if it holds none.
    pub(super) kind: Option<&'static TextKind>,
}

impl<'a> UpstreamPart<'a> {
    /// Parses a part of an item of kind `item_kind`; `None` if it is not an object.
    pub(super) fn parse(raw: &'a str, item_kind: &Kind) -> Option<Self> {
        let fields = Object::parse(raw.as_bytes()).ok()?;
        let name = fields.string("type").unwrap_or_default().into_owned();
        let kind = TextKind::for_part(&name, item_kind);
        let shown_as = kind.and_then(|kind| kind.part).map(|part| part.name);
        let shown_as = shown_as.filter(|shown| *shown != name).map(quote);
        let part = Self { raw: Cow::Borrowed(raw), fields, kind };
        Some(match shown_as {
            Some(name) => part.with("type", name),
            None => part,
        })
    }

    /// Parses a list of parts; empty if `array` is not a list.
    pub(super) fn list(array: Option<&'a str>, item_kind: &Kind) -> Vec<Self> {
        let parts = raw_values(array).into_iter();
        parts.filter_map(|raw| Self::parse(raw, item_kind)).collect()
    }

    pub(super) fn raw(&self) -> &str {
        &self.raw
    }

    /// Whether the bytes are the upstream's.
    pub(super) fn is_as_it_came(&self) -> bool {
        matches!(self.raw, Cow::Borrowed(_))
    }

    /// Whether it holds a non-empty text, or content other than text.
    pub(super) fn has_content(&self) -> bool {
        self.kind.is_none_or(|kind| !self.text(kind).is_empty())
    }

    /// The text of this kind, escaped.
    pub(super) fn text(&self, kind: &TextKind) -> &str {
        self.fields.get(kind.field).and_then(inside).unwrap_or_default()
    }

    pub(super) fn logprobs(&self) -> &str {
        self.fields.present("logprobs").unwrap_or("[]")
    }

    pub(super) fn annotations(&self) -> Vec<&str> {
        raw_values(self.fields.get("annotations"))
    }

    /// Sets a field.
    pub(super) fn with(mut self, key: &'static str, raw: String) -> Self {
        if self.fields.get(key) != Some(&raw) {
            self.fields.set(key, raw);
            self.raw = Cow::Owned(self.fields.to_text());
        }
        self
    }

    /// The part with empty text, annotations and logprobs.
    pub(super) fn without_content(self) -> Self {
        let text = self.kind.map(|kind| (kind.field, r#""""#));
        let lists = [("annotations", "[]"), ("logprobs", "[]")];
        let lists = lists.into_iter().filter(|(key, _)| self.fields.get(key).is_some());
        let empty: Vec<_> = text.into_iter().chain(lists).collect();
        empty.into_iter().fold(self, |part, (key, raw)| part.with(key, raw.to_owned()))
    }
}

fn raw_values(array: Option<&str>) -> Vec<&str> {
    array.and_then(elements).unwrap_or_default()
}

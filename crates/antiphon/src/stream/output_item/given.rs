//! A part as an upstream gives it.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::super::heard::inside;
use super::super::vocabulary::TextKind;
use crate::item::Kind;
use crate::json::{Object, quote};

/// A part: the bytes that came, and what they say.
///
/// Reasoning that some servers give as output text goes by the type that it has for clients.
#[derive(Clone)]
pub(super) struct Given<'a> {
    raw: Cow<'a, str>,
    fields: Object<'a>,
    /// The text that it holds.
    pub(super) kind: Option<&'static TextKind>,
}

impl<'a> Given<'a> {
    /// A part of an item of kind `speaker`; `None` where it is no object.
    pub(super) fn parse(raw: &'a str, speaker: &Kind) -> Option<Self> {
        let fields = Object::parse(raw.as_bytes()).ok()?;
        let name = fields.string("type").unwrap_or_default().into_owned();
        let kind = TextKind::of_part(&name, speaker);
        let shown_as = kind.and_then(|kind| kind.part).map(|part| part.name);
        let shown_as = shown_as.filter(|shown| *shown != name).map(quote);
        let part = Self { raw: Cow::Borrowed(raw), fields, kind };
        Some(match shown_as {
            Some(name) => part.with("type", name),
            None => part,
        })
    }

    /// The parts in a list of such an item; none where it is no list.
    pub(super) fn list(array: Option<&'a str>, speaker: &Kind) -> Vec<Self> {
        let parts = raw_values(array).into_iter();
        parts.filter_map(|raw| Self::parse(raw, speaker)).collect()
    }

    pub(super) fn raw(&self) -> &str {
        &self.raw
    }

    /// Whether its bytes are those that came.
    pub(super) fn is_as_it_came(&self) -> bool {
        matches!(self.raw, Cow::Borrowed(_))
    }

    /// Whether it holds any text, or something else than text.
    pub(super) fn speaks(&self) -> bool {
        self.kind.is_none_or(|kind| !self.text(kind).is_empty())
    }

    /// Its text of this kind, escaped.
    pub(super) fn text(&self, kind: &TextKind) -> &str {
        self.fields.get(kind.field).and_then(inside).unwrap_or_default()
    }

    pub(super) fn logprobs(&self) -> &str {
        self.fields.present("logprobs").unwrap_or("[]")
    }

    pub(super) fn annotations(&self) -> Vec<&str> {
        raw_values(self.fields.get("annotations"))
    }

    /// The part with another value in a field.
    pub(super) fn with(mut self, key: &'static str, raw: String) -> Self {
        if self.fields.get(key) != Some(&raw) {
            self.fields.set(key, raw);
            self.raw = Cow::Owned(self.fields.to_text());
        }
        self
    }

    /// The part before anything is said in it.
    pub(super) fn emptied(self) -> Self {
        let text = self.kind.map(|kind| (kind.field, r#""""#));
        let lists = [("annotations", "[]"), ("logprobs", "[]")];
        let lists = lists.into_iter().filter(|(key, _)| self.fields.get(key).is_some());
        let empty: Vec<_> = text.into_iter().chain(lists).collect();
        empty.into_iter().fold(self, |part, (key, raw)| part.with(key, raw.to_owned()))
    }
}

fn raw_values(array: Option<&str>) -> Vec<&str> {
    let raws: Option<Vec<&RawValue>> = array.and_then(|array| serde_json::from_str(array).ok());
    raws.unwrap_or_default().into_iter().map(RawValue::get).collect()
}

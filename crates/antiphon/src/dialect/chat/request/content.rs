//! The content of a message: a text, or parts.

use serde_json::value::RawValue;

use super::parts::{Author, Part};
use super::report::unsupported;
use crate::dialect::chat::fields::{array, join};
use crate::dialect::request::{RequestPath, Unsupported};
use crate::json::Object;

/// The separator between texts that are joined: a blank line, escaped.
pub(super) const BLANK_LINE: &str = r"\n\n";

/// An empty text, as raw JSON.
pub(super) const EMPTY_TEXT: &str = r#""""#;

/// A content in the form of Chat Completions.
#[derive(Default)]
pub(super) struct Content {
    parts: Vec<Part>,
}

impl Content {
    /// Parses the raw value under `field` of an item: a string, or an array of parts. An absent
    /// value is an empty content.
    pub(super) fn parse(
        raw: Option<&str>,
        author: Author,
        position: usize,
        field: &str,
    ) -> Result<Self, Unsupported> {
        match raw {
            None => Ok(Self::default()),
            Some(text) if text.starts_with('"') => {
                Ok(Self { parts: vec![Part::Text(text.into())] })
            }
            Some(raw) => parts(raw, author, position, field).map(|parts| Self { parts }),
        }
    }

    /// The content, or an empty text if it has no parts.
    pub(super) fn or_empty_text(mut self) -> Self {
        if self.parts.is_empty() {
            self.parts.push(Part::Text(EMPTY_TEXT.into()));
        }
        self
    }

    /// Appends another content.
    pub(super) fn append(&mut self, mut other: Self) {
        self.parts.append(&mut other.parts);
    }

    /// Whether the content is empty or only text.
    pub(super) fn is_plain(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Text(_)))
    }

    /// Removes the parts that are neither text nor refusal, and returns them.
    pub(super) fn take_media(&mut self) -> Vec<String> {
        let is_media = |part: &mut Part| matches!(part, Part::Media(_));
        self.parts.extract_if(.., is_media).map(Part::into_json).collect()
    }

    /// Removes the refusals, and returns them as one raw JSON string.
    pub(super) fn take_refusal(&mut self) -> Option<String> {
        let is_refusal = |part: &mut Part| matches!(part, Part::Refusal(_));
        let refusals: Vec<Part> = self.parts.extract_if(.., is_refusal).collect();
        let texts = refusals.iter().filter_map(|part| match part {
            Part::Refusal(text) => Some(&**text),
            _ => None,
        });
        (!refusals.is_empty()).then(|| join(texts, BLANK_LINE))
    }

    /// The content as JSON; `None` if it has no parts. Texts are joined into one string with a
    /// blank line between them: every server accepts a string, and some reject arrays (DeepSeek's).
    pub(super) fn into_json(self) -> Option<String> {
        if self.parts.is_empty() {
            return None;
        }
        if !self.is_plain() {
            return Some(array(self.parts.into_iter().map(Part::into_json)));
        }
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(&**text),
            _ => None,
        });
        Some(join(texts, BLANK_LINE))
    }
}

fn parts(
    raw: &str,
    author: Author,
    position: usize,
    field: &str,
) -> Result<Vec<Part>, Unsupported> {
    let place = || RequestPath::Item(position, field.into());
    let raws: Vec<&RawValue> = serde_json::from_str(raw)
        .map_err(|_| unsupported(place(), "expected a string or an array"))?;
    let part_at = |(nth, raw): (usize, &&RawValue)| {
        let place = || RequestPath::Item(position, format!("{field}[{nth}]"));
        let part = Object::parse(raw.get().as_bytes());
        Part::parse(&part.map_err(|_| unsupported(place(), "expected an object"))?, author, place)
    };
    raws.iter().enumerate().map(part_at).collect()
}

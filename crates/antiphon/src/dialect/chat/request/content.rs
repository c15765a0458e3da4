//! What a message says: a text, or parts.

use serde_json::value::RawValue;

use super::parts::{Part, Speaker};
use super::report::unsupported;
use crate::dialect::chat::fields::{array, joined};
use crate::dialect::request::{Place, Unsupported};
use crate::json::Object;

/// What stands between texts that become one: a blank line, escaped.
pub(super) const BLANK_LINE: &str = r"\n\n";

/// A text that says nothing, as raw JSON.
pub(super) const EMPTY_TEXT: &str = r#""""#;

/// A content as Chat Completions has it.
#[derive(Default)]
pub(super) struct Content {
    parts: Vec<Part>,
}

impl Content {
    /// The content that the raw value under `field` of an item is: a string, or an array of parts.
    /// An absent one says nothing.
    pub(super) fn of(
        raw: Option<&str>,
        speaker: Speaker,
        position: usize,
        field: &str,
    ) -> Result<Self, Unsupported> {
        match raw {
            None => Ok(Self::default()),
            Some(text) if text.starts_with('"') => {
                Ok(Self { parts: vec![Part::Text(text.into())] })
            }
            Some(raw) => parts(raw, speaker, position, field).map(|parts| Self { parts }),
        }
    }

    /// The content, or an empty text where it says nothing.
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

    /// Whether it is plain text, or nothing.
    pub(super) fn is_plain(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Text(_)))
    }

    /// The parts that are neither text nor refusal, taken out.
    pub(super) fn take_media(&mut self) -> Vec<String> {
        let is_media = |part: &mut Part| matches!(part, Part::Media(_));
        self.parts.extract_if(.., is_media).map(Part::into_json).collect()
    }

    /// The refusals, taken out: one raw JSON string.
    pub(super) fn take_refusal(&mut self) -> Option<String> {
        let is_refusal = |part: &mut Part| matches!(part, Part::Refusal(_));
        let refusals: Vec<Part> = self.parts.extract_if(.., is_refusal).collect();
        let texts = refusals.iter().filter_map(|part| match part {
            Part::Refusal(text) => Some(&**text),
            _ => None,
        });
        (!refusals.is_empty()).then(|| joined(texts, BLANK_LINE))
    }

    /// The content as JSON; `None` where it has no parts. What is only text is one string, with a
    /// blank line between its parts, for every server takes a string and some take nothing else
    /// (DeepSeek's refuses arrays).
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
        Some(joined(texts, BLANK_LINE))
    }
}

fn parts(
    raw: &str,
    speaker: Speaker,
    position: usize,
    field: &str,
) -> Result<Vec<Part>, Unsupported> {
    let place = || Place::Item(position, field.into());
    let raws: Vec<&RawValue> = serde_json::from_str(raw)
        .map_err(|_| unsupported(place(), "it is neither a string nor an array"))?;
    let part_at = |(nth, raw): (usize, &&RawValue)| {
        let place = || Place::Item(position, format!("{field}[{nth}]"));
        let part = Object::parse(raw.get().as_bytes());
        Part::of(&part.map_err(|_| unsupported(place(), "it is no object"))?, speaker, place)
    };
    raws.iter().enumerate().map(part_at).collect()
}

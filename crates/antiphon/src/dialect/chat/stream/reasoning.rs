//! The reasoning of an answer.

use super::details::Details;
use super::item_emitter::ItemEmitter;
use crate::dialect::{Dialect, Seal};
use crate::json::{Object, quote};
use crate::stream::DeltaKind;
use crate::transcript::Origin;

/// The text fields for reasoning. vLLM sends the same text in both, for old and new clients; only
/// one of them is decoded.
const FIELDS: [&str; 2] = ["reasoning_content", "reasoning"];

/// The open reasoning. It ends when another item begins; later reasoning is a new item.
///
/// ```text
///   Empty ── text or details ──> Open ── end ──> Empty
/// ```
///
/// An item ends with its seal: the reasoning fields of the assistant message that the server
/// requires back, under their original names.
#[derive(Debug)]
pub(super) struct Reasoning {
    origin: Origin,
    open: Option<OpenReasoning>,
}

/// One reasoning item that has not ended.
#[derive(Debug)]
struct OpenReasoning {
    index: u64,
    /// The first field with text; `None` if only details have come.
    field: Option<&'static str>,
    /// The text so far, escaped.
    text: String,
    details: Details,
}

impl Reasoning {
    /// No reasoning yet, in an answer of `origin`.
    pub(super) fn new(origin: Origin) -> Self {
        Self { origin, open: None }
    }

    /// Whether a delta has reasoning.
    pub(super) fn is_in(delta: &Object<'_>) -> bool {
        FIELDS.iter().any(|field| delta.get(field).is_some_and(is_text))
            || delta.get("reasoning_details").is_some_and(|raw| raw.starts_with('[') && raw != "[]")
    }

    /// Applies the reasoning of a delta.
    ///
    /// The text of `reasoning_details` (OpenRouter) repeats that of `reasoning`, and is emitted
    /// only if there is no other text.
    pub(super) fn apply(&mut self, delta: &Object<'_>, emitter: &mut ItemEmitter<'_>) {
        let texts = FIELDS.map(|field| delta.get(field).filter(|raw| is_text(raw)));
        let details = delta.get("reasoning_details").map(Details::parse).unwrap_or_default();
        if texts.iter().all(Option::is_none) && details.is_empty() {
            return;
        }
        let reasoning_item = self.open.get_or_insert_with(|| OpenReasoning::begin(emitter));
        reasoning_item.apply_text(texts, emitter);
        for detail in details {
            if let Some(raw) = detail.text().filter(|_| reasoning_item.field.is_none()) {
                emitter.delta(reasoning_item.index, DeltaKind::Reasoning, 0, &raw);
            }
            reasoning_item.details.add(detail);
        }
    }

    /// Ends the open reasoning.
    pub(super) fn end(&mut self, emitter: &mut ItemEmitter<'_>) {
        let Some(reasoning_item) = self.open.take() else { return };
        end(reasoning_item.index, reasoning_item.content(), &self.origin, emitter);
    }
}

/// Begins a reasoning item, and returns its index.
pub(super) fn begin(emitter: &mut ItemEmitter<'_>) -> u64 {
    emitter.announce(&[("type", r#""reasoning""#)].into_iter().collect())
}

/// Ends a reasoning item with its seal. `content` is a raw object with the fields of the assistant
/// message that `origin` requires back.
pub(super) fn end(index: u64, content: String, origin: &Origin, emitter: &mut ItemEmitter<'_>) {
    let seal = Seal { dialect: Dialect::Chat, origin: origin.clone(), content };
    let encrypted = quote(&seal.to_text());
    let item = [("type", r#""reasoning""#), ("encrypted_content", encrypted.as_str())];
    emitter.assembler.end_item(index, &item.into_iter().collect());
}

impl OpenReasoning {
    fn begin(emitter: &mut ItemEmitter<'_>) -> Self {
        Self {
            index: begin(emitter),
            field: None,
            text: String::new(),
            details: Details::default(),
        }
    }

    fn apply_text(&mut self, texts: [Option<&str>; 2], emitter: &mut ItemEmitter<'_>) {
        let texts = FIELDS.into_iter().zip(texts);
        let mut texts = texts.filter_map(|(field, raw)| Some((field, raw?)));
        let (Some(first), second) = (texts.next(), texts.next()) else { return };
        let (field, raw) = second.filter(|it| self.field == Some(it.0)).unwrap_or(first);
        self.field.get_or_insert(field);
        self.text.push_str(&raw[1..raw.len() - 1]);
        emitter.delta(self.index, DeltaKind::Reasoning, 0, raw);
    }

    /// The fields that the server requires back.
    fn content(&self) -> String {
        let mut content = Object::default();
        if let Some(field) = self.field {
            content.set(field, format!("\"{}\"", self.text));
        }
        if !self.details.is_empty() {
            content.set("reasoning_details", self.details.to_json());
        }
        content.to_text()
    }
}

/// Whether it is a nonempty JSON string.
fn is_text(raw: &str) -> bool {
    raw.starts_with('"') && raw.len() > 2
}

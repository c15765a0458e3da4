//! The reasoning of an answer.

use super::details::Details;
use super::teller::Teller;
use crate::dialect::{Dialect, Seal};
use crate::json::{Object, quote};
use crate::stream::Spoken;
use crate::transcript::Origin;

/// The fields that reasoning comes in as text. vLLM sends both, with the same text, where it has to
/// please old clients and new: of two in one delta one is heard.
const FIELDS: [&str; 2] = ["reasoning_content", "reasoning"];

/// Reasoning, which ends when anything else begins. What resumes after that is another item.
///
/// ```text
///   Silent ── text or details ──> Open ── end ──> Silent
/// ```
///
/// An item ends with its seal: the fields of the assistant's message that the server wants back,
/// under the names that they came by.
#[derive(Debug)]
pub(super) struct Reasoning {
    origin: Origin,
    open: Option<Thought>,
}

/// One item of reasoning, as far as it has come.
#[derive(Debug)]
struct Thought {
    index: u64,
    /// The field that it came in first; `None` while only details have come.
    field: Option<&'static str>,
    /// Its text, escaped as it came.
    text: String,
    details: Details,
}

impl Reasoning {
    /// None yet, of an answer by `origin`.
    pub(super) fn new(origin: Origin) -> Self {
        Self { origin, open: None }
    }

    /// Whether a delta says anything of reasoning.
    pub(super) fn speaks_in(said: &Object<'_>) -> bool {
        FIELDS.iter().any(|field| said.get(field).is_some_and(is_text))
            || said.get("reasoning_details").is_some_and(|raw| raw.starts_with('[') && raw != "[]")
    }

    /// Takes what a delta says of reasoning.
    ///
    /// The text of `reasoning_details` (OpenRouter) repeats that of `reasoning`, and is told where no
    /// text has come beside it.
    pub(super) fn hear(&mut self, said: &Object<'_>, teller: &mut Teller<'_>) {
        let texts = FIELDS.map(|field| said.get(field).filter(|raw| is_text(raw)));
        let details = said.get("reasoning_details").map(Details::parsed).unwrap_or_default();
        if texts.iter().all(Option::is_none) && details.is_empty() {
            return;
        }
        let thought = self.open.get_or_insert_with(|| Thought::begin(teller));
        thought.hear_text(texts, teller);
        for detail in details {
            if let Some(raw) = detail.text().filter(|_| thought.field.is_none()) {
                teller.delta(thought.index, Spoken::Reasoning, 0, &raw);
            }
            thought.details.add(detail);
        }
    }

    /// Something else begins, or the answer ends: so does the reasoning that is open.
    pub(super) fn end(&mut self, teller: &mut Teller<'_>) {
        let Some(thought) = self.open.take() else { return };
        end(thought.index, thought.content(), &self.origin, teller);
    }
}

/// An item of reasoning begins: its index.
pub(super) fn begin(teller: &mut Teller<'_>) -> u64 {
    teller.announce(&[("type", r#""reasoning""#)].into_iter().collect())
}

/// An item of reasoning ends with its seal. `content`: the fields of the assistant's message that
/// `origin` wants back, a raw object.
pub(super) fn end(index: u64, content: String, origin: &Origin, teller: &mut Teller<'_>) {
    let seal = Seal { dialect: Dialect::Chat, origin: origin.clone(), content };
    let encrypted = quote(&seal.to_text());
    let item = [("type", r#""reasoning""#), ("encrypted_content", encrypted.as_str())];
    teller.assembler.end_item(index, &item.into_iter().collect());
}

impl Thought {
    fn begin(teller: &mut Teller<'_>) -> Self {
        Self { index: begin(teller), field: None, text: String::new(), details: Details::default() }
    }

    fn hear_text(&mut self, texts: [Option<&str>; 2], teller: &mut Teller<'_>) {
        let told = FIELDS.into_iter().zip(texts);
        let mut told = told.filter_map(|(field, raw)| Some((field, raw?)));
        let (Some(first), second) = (told.next(), told.next()) else { return };
        let (field, raw) = second.filter(|it| self.field == Some(it.0)).unwrap_or(first);
        self.field.get_or_insert(field);
        self.text.push_str(&raw[1..raw.len() - 1]);
        teller.delta(self.index, Spoken::Reasoning, 0, raw);
    }

    /// What the server wants back.
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

/// Whether it is a text that says something.
fn is_text(raw: &str) -> bool {
    raw.starts_with('"') && raw.len() > 2
}

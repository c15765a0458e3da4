//! The texts of an answer: a message for each.

use std::collections::HashMap;

use serde_json::value::RawValue;

use super::metadata::Metadata;
use super::part::Part;
use super::teller::Teller;
use crate::json::Object;
use crate::stream::Spoken;

/// The texts that are open, by their ids.
///
/// ```text
///   text-start, or the first text-delta ──> Open ── text-end, or the step's end ──> ended
/// ```
///
/// Several may be open side by side. A text that was never begun, and says nothing, is none.
#[derive(Default)]
pub(super) struct Texts {
    open: HashMap<String, u64>,
}

impl Texts {
    /// A text begins. One that is open does not begin again.
    pub(super) fn start(&mut self, part: Part<'_>, teller: &mut Teller<'_>) {
        self.opened(part, teller);
    }

    /// A piece of a text.
    pub(super) fn delta(&mut self, part: Part<'_>, teller: &mut Teller<'_>) {
        if let Some(piece) = part.delta() {
            let index = self.opened(part, teller);
            teller.say(index, Spoken::Output, 0, piece);
        }
    }

    /// A text ends.
    pub(super) fn end(&mut self, part: Part<'_>, teller: &mut Teller<'_>) {
        let Some(index) = self.open.remove(&*part.id()) else {
            return;
        };
        let metadata = Metadata::of(part);
        let annotations = metadata.field("annotations").unwrap_or("[]");
        let annotations: Vec<&RawValue> = serde_json::from_str(annotations).unwrap_or_default();
        for (number, annotation) in (0..).zip(annotations) {
            teller.assembler.annotation(index, 0, number, annotation.get());
        }
        teller.assembler.close_item(index);
    }

    /// The step is over: texts that are open end with what they have said, in order.
    pub(super) fn end_all(&mut self, teller: &mut Teller<'_>) {
        let mut open: Vec<u64> = self.open.drain().map(|(_, index)| index).collect();
        open.sort_unstable();
        for index in open {
            teller.assembler.close_item(index);
        }
    }

    /// Where the text is told of, which begins if it has not.
    fn opened(&mut self, part: Part<'_>, teller: &mut Teller<'_>) -> u64 {
        let id = part.id();
        if let Some(index) = self.open.get(&*id) {
            return *index;
        }
        let index = teller.begin(&message(&Metadata::of(part)));
        self.open.insert(id.into_owned(), index);
        index
    }
}

/// A message as it begins. OpenAI's own has an id and says in which phase it is spoken.
fn message<'a>(metadata: &'a Metadata<'_>) -> Object<'a> {
    let mut item: Object<'a> =
        [("type", r#""message""#), ("role", r#""assistant""#)].into_iter().collect();
    for (key, field) in [("id", "itemId"), ("phase", "phase")] {
        if let Some(raw) = metadata.field(field).filter(|raw| raw.starts_with('"')) {
            item.set(key, raw);
        }
    }
    item
}

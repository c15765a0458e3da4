//! The texts of an answer. Each becomes a message.

use std::collections::HashMap;

use super::item_emitter::ItemEmitter;
use super::metadata::Metadata;
use super::part::Part;
use crate::json::{Object, elements};
use crate::stream::DeltaKind;

/// The open texts, by their ids.
///
/// ```text
///   text-start, or the first text-delta ──> Open ── text-end, or end of the step ──> ended
/// ```
///
/// Several texts can be open at once. An empty text that never began is ignored.
#[derive(Default)]
pub(super) struct Texts {
    open: HashMap<String, u64>,
}

impl Texts {
    /// Begins a text, unless it is open.
    pub(super) fn start(&mut self, part: Part<'_>, emitter: &mut ItemEmitter<'_>) {
        self.index_of(part, emitter);
    }

    /// Appends a delta.
    pub(super) fn delta(&mut self, part: Part<'_>, emitter: &mut ItemEmitter<'_>) {
        if let Some(piece) = part.delta() {
            let index = self.index_of(part, emitter);
            emitter.delta(index, DeltaKind::Output, 0, piece);
        }
    }

    /// Ends a text.
    pub(super) fn end(&mut self, part: Part<'_>, emitter: &mut ItemEmitter<'_>) {
        let Some(index) = self.open.remove(&*part.id()) else {
            return;
        };
        let metadata = Metadata::from_part(part);
        let annotations = metadata.field("annotations").unwrap_or("[]");
        let annotations = elements(annotations).unwrap_or_default();
        for (number, annotation) in (0..).zip(annotations) {
            emitter.assembler.annotation(index, 0, number, annotation);
        }
        emitter.assembler.close_item(index);
    }

    /// Ends all open texts in order, because the step is over.
    pub(super) fn end_all(&mut self, emitter: &mut ItemEmitter<'_>) {
        let mut open: Vec<u64> = self.open.drain().map(|(_, index)| index).collect();
        open.sort_unstable();
        for index in open {
            emitter.assembler.close_item(index);
        }
    }

    /// The index of a text's item. Begins the text if needed.
    fn index_of(&mut self, part: Part<'_>, emitter: &mut ItemEmitter<'_>) -> u64 {
        let id = part.id();
        if let Some(index) = self.open.get(&*id) {
            return *index;
        }
        let index = emitter.begin(&message(&Metadata::from_part(part)));
        self.open.insert(id.into_owned(), index);
        index
    }
}

/// The message at its beginning. OpenAI's provider adds an id and a `phase`.
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

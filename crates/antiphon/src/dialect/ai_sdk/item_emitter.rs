//! Emits items to an assembler.

use crate::json::{Object, quote};
use crate::stream::{Assembler, DeltaKind};

/// An assembler, and the number of items so far, which gives the next index.
pub(super) struct ItemEmitter<'a> {
    pub(super) assembler: &'a mut Assembler,
    count: &'a mut u64,
}

impl<'a> ItemEmitter<'a> {
    pub(super) fn new(assembler: &'a mut Assembler, count: &'a mut u64) -> Self {
        Self { assembler, count }
    }

    /// Begins a new item, and returns its index.
    pub(super) fn begin(&mut self, item: &Object<'_>) -> u64 {
        let index = self.next_index();
        self.assembler.announce_other_item(index, item);
        index
    }

    /// Emits a delta of the item's text: a raw JSON string.
    pub(super) fn delta(&mut self, index: u64, spoken: DeltaKind, part: u64, raw: &str) {
        if raw != r#""""# {
            self.assembler.delta(index, spoken, part, raw);
        }
    }

    pub(super) fn end(&mut self, index: u64, item: &Object<'_>) {
        self.assembler.end_item(index, item);
    }

    /// Emits a complete item.
    pub(super) fn complete_item(&mut self, item: &Object<'_>) {
        let index = self.next_index();
        self.assembler.end_item(index, item);
    }

    /// Emits an extension item for a part that the Responses API has no item for. `content` is a
    /// raw JSON object. Open Responses requires a status in every item.
    pub(super) fn extension(&mut self, kind: &str, content: &str) {
        let name = quote(&format!("ai-sdk:{kind}"));
        let status = ("status", r#""completed""#);
        self.complete_item(
            &[("type", name.as_str()), status, ("content", content)].into_iter().collect(),
        );
    }

    fn next_index(&mut self) -> u64 {
        *self.count += 1;
        *self.count
    }
}

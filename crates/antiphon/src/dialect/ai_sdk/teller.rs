//! Tells an assembler of items.

use crate::json::{Object, quote};
use crate::stream::{Assembler, Spoken};

/// An assembler, and how many items it was told of: the next item's index.
pub(super) struct Teller<'a> {
    pub(super) assembler: &'a mut Assembler,
    count: &'a mut u64,
}

impl<'a> Teller<'a> {
    pub(super) fn new(assembler: &'a mut Assembler, count: &'a mut u64) -> Self {
        Self { assembler, count }
    }

    /// An item begins, one that was never told of before. The index that it goes by from here on.
    pub(super) fn begin(&mut self, item: &Object<'_>) -> u64 {
        let index = self.next_index();
        self.assembler.announce_other_item(index, item);
        index
    }

    /// A piece of the item's text: the inside of a JSON string, as it came.
    pub(super) fn say(&mut self, index: u64, spoken: Spoken, part: u64, raw: &str) {
        if raw != r#""""# {
            self.assembler.delta(index, spoken, part, raw);
        }
    }

    pub(super) fn end(&mut self, index: u64, item: &Object<'_>) {
        self.assembler.end_item(index, item);
    }

    /// An item that comes whole.
    pub(super) fn whole(&mut self, item: &Object<'_>) {
        let index = self.next_index();
        self.assembler.end_item(index, item);
    }

    /// Something that the Responses API has no item for, as an item of our own that holds it.
    /// `content`: a raw JSON object. Open Responses wants a status of every item.
    pub(super) fn extension(&mut self, kind: &str, content: &str) {
        let name = quote(&format!("ai-sdk:{kind}"));
        let status = ("status", r#""completed""#);
        self.whole(&[("type", name.as_str()), status, ("content", content)].into_iter().collect());
    }

    fn next_index(&mut self) -> u64 {
        *self.count += 1;
        *self.count
    }
}

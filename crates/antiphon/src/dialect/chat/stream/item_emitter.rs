//! Emits items to the assembler, and counts them.

use crate::json::Object;
use crate::stream::{Assembler, DeltaKind};

/// The items of an answer. Their indexes follow the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Items {
    count: u64,
    /// The item with the last output.
    last: Option<u64>,
}

impl Items {
    /// Whether there are no items.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The item with the last output.
    pub(super) fn last(&self) -> Option<u64> {
        self.last
    }

    /// The indexes, in order.
    pub(super) fn indexes(&self) -> std::ops::Range<u64> {
        0..self.count
    }

    /// An emitter of these items to `assembler`.
    pub(super) fn emitter<'a>(&'a mut self, assembler: &'a mut Assembler) -> ItemEmitter<'a> {
        ItemEmitter { items: self, assembler }
    }

    fn begin(&mut self) -> u64 {
        let index = self.count;
        self.count += 1;
        self.last = Some(index);
        index
    }
}

/// Emits the items of one answer to its assembler.
pub(super) struct ItemEmitter<'a> {
    items: &'a mut Items,
    pub(super) assembler: &'a mut Assembler,
}

impl ItemEmitter<'_> {
    /// Announces an item, and returns its index.
    pub(super) fn announce(&mut self, item: &Object<'_>) -> u64 {
        let index = self.items.begin();
        self.assembler.announce_item(index, item);
        index
    }

    /// Announces a call, even if its id equals that of another call, and returns its index.
    pub(super) fn announce_call(&mut self, call: &Object<'_>) -> u64 {
        let index = self.items.begin();
        self.assembler.announce_other_item(index, call);
        index
    }

    /// Emits a delta of an item's text.
    pub(super) fn delta(&mut self, index: u64, spoken: DeltaKind, part: u64, raw: &str) {
        self.items.last = Some(index);
        self.assembler.delta(index, spoken, part, raw);
    }

    /// Emits a delta of a message's text with the log probabilities of its tokens.
    pub(super) fn delta_with_logprobs(&mut self, index: u64, part: u64, raw: &str, logprobs: &str) {
        self.items.last = Some(index);
        self.assembler.delta_with_logprobs(index, part, raw, logprobs);
    }

    /// Emits a final delta that the server did not send.
    pub(super) fn complete(&mut self, index: u64, spoken: DeltaKind, raw: &str) {
        self.assembler.delta(index, spoken, 0, raw);
    }

    /// Records that output of an item came, which a later event will have.
    pub(super) fn hold(&mut self, index: u64) {
        self.items.last = Some(index);
    }

    /// Ends an item with its final version.
    pub(super) fn end(&mut self, index: u64, item: &Object<'_>) {
        self.assembler.end_item(index, item);
    }

    /// Emits an annotation of an item's text.
    pub(super) fn annotation(&mut self, index: u64, part: u64, number: u64, annotation: &str) {
        self.items.last = Some(index);
        self.assembler.annotation(index, part, number, annotation);
    }
}

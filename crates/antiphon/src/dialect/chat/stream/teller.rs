//! Tells the assembler of items, and counts them.

use crate::json::Object;
use crate::stream::{Assembler, Spoken};

/// The items of an answer by the indexes that they are told under: in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Items {
    count: u64,
    /// The item that spoke last.
    last: Option<u64>,
}

impl Items {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The item that spoke last.
    pub(super) fn last(&self) -> Option<u64> {
        self.last
    }

    /// Their indexes, in order.
    pub(super) fn indexes(&self) -> std::ops::Range<u64> {
        0..self.count
    }

    /// To tell `assembler` of them.
    pub(super) fn told_to<'a>(&'a mut self, assembler: &'a mut Assembler) -> Teller<'a> {
        Teller { items: self, assembler }
    }

    fn begin(&mut self) -> u64 {
        let index = self.count;
        self.count += 1;
        self.last = Some(index);
        index
    }
}

/// Tells one assembler of one answer's items.
pub(super) struct Teller<'a> {
    items: &'a mut Items,
    pub(super) assembler: &'a mut Assembler,
}

impl Teller<'_> {
    /// An item begins: its index.
    pub(super) fn announce(&mut self, item: &Object<'_>) -> u64 {
        let index = self.items.begin();
        self.assembler.announce_item(index, item);
        index
    }

    /// A call begins that is no other, whatever its id: its index.
    pub(super) fn announce_call(&mut self, call: &Object<'_>) -> u64 {
        let index = self.items.begin();
        self.assembler.announce_other_item(index, call);
        index
    }

    /// A piece of a text of the item.
    pub(super) fn delta(&mut self, index: u64, spoken: Spoken, part: u64, raw: &str) {
        self.items.last = Some(index);
        self.assembler.delta(index, spoken, part, raw);
    }

    /// A piece of a message's text, and how likely its tokens were.
    pub(super) fn delta_with_logprobs(&mut self, index: u64, part: u64, raw: &str, logprobs: &str) {
        self.items.last = Some(index);
        self.assembler.delta_with_logprobs(index, part, raw, logprobs);
    }

    /// The last piece of a text, which the server has not said itself.
    pub(super) fn complete(&mut self, index: u64, spoken: Spoken, raw: &str) {
        self.assembler.delta(index, spoken, 0, raw);
    }

    /// A note on a text of the item.
    pub(super) fn annotation(&mut self, index: u64, part: u64, number: u64, annotation: &str) {
        self.items.last = Some(index);
        self.assembler.annotation(index, part, number, annotation);
    }
}

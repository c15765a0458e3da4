//! How much an answer has come to.

use bytes::Bytes;

use super::{Assembler, Routes};
use crate::item::Item;
use crate::stream::output_item::OutputItem;

impl Assembler {
    /// The output items so far. An item that is still open is as it was announced.
    pub fn output_items(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().map(OutputItem::item)
    }

    /// About how many bytes are kept of the answer: its items, and events that wait for an item.
    pub fn output_length(&self) -> usize {
        let items: usize = self.items.iter().map(OutputItem::length).sum();
        let early: usize = self.early.iter().map(Bytes::len).sum();
        items + early
    }

    /// Drops the output, for an answer that is too long to be kept. No event is told: the response
    /// has to fail next, and its items are not closed before.
    pub fn discard_output(&mut self) {
        self.items.clear();
        self.early.clear();
        self.routes = Routes::default();
    }
}

//! The messages that consist of text blocks.

use std::collections::HashMap;

use super::Context;
use crate::json::Object;
use crate::stream::Assembler;

/// The open messages.
///
/// ```text
///   text block starts ──> current ── text block starts ──> current
///                           └── another block starts ──> past ── its last block stops ──> closed
/// ```
///
/// A message is announced with its first text. A message with only empty blocks is never announced.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// The message that the next text block belongs to.
    current: Option<u64>,
    open: HashMap<u64, Message>,
}

#[derive(Debug, Default)]
struct Message {
    /// The number of its blocks that have text.
    parts: u64,
    /// The number of its blocks that have not stopped.
    blocks: usize,
}

impl Messages {
    /// Adds a text block to the current message, and returns the item of the message.
    pub(super) fn start_block(context: &mut Context) -> u64 {
        let current = context.messages.current;
        let item = current.unwrap_or_else(|| context.new_item());
        context.messages.current = Some(item);
        context.messages.open.entry(item).or_default().blocks += 1;
        item
    }

    /// Starts a part for a block's first text, and returns the index of the part.
    pub(super) fn start_part(&mut self, item: u64, assembler: &mut Assembler) -> u64 {
        let message = self.open.entry(item).or_default();
        if message.parts == 0 {
            let fields = [("type", r#""message""#), ("role", r#""assistant""#)];
            assembler.announce_item(item, &Object::from_iter(fields));
        }
        message.parts += 1;
        message.parts - 1
    }

    /// Records that a block of the message has stopped.
    pub(super) fn stop_block(&mut self, item: u64, assembler: &mut Assembler) {
        if let Some(message) = self.open.get_mut(&item) {
            message.blocks = message.blocks.saturating_sub(1);
            self.close_if_past(item, assembler);
        }
    }

    /// Ends the current message, because a block of another type starts.
    pub(super) fn end_current(&mut self, assembler: &mut Assembler) {
        if let Some(item) = self.current.take() {
            self.close_if_past(item, assembler);
        }
    }

    fn close_if_past(&mut self, item: u64, assembler: &mut Assembler) {
        let has_stopped = self.open.get(&item).is_some_and(|message| message.blocks == 0);
        if has_stopped && self.current != Some(item) {
            self.open.remove(&item);
            assembler.close_item(item);
        }
    }
}

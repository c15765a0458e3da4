//! The messages that text blocks make up.

use std::collections::HashMap;

use super::Context;
use crate::json::Object;
use crate::stream::Assembler;

/// The messages that are open.
///
/// ```text
///   text block starts ──> current ── text block starts ──> current
///                           └── another block starts ──> past ── its last block stops ──> closed
/// ```
///
/// A message is announced when it speaks first: one of empty blocks never is.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// The message that the next text block belongs to.
    current: Option<u64>,
    open: HashMap<u64, Message>,
}

#[derive(Debug, Default)]
struct Message {
    /// How many of its blocks have spoken.
    parts: u64,
    /// How many of its blocks have not stopped.
    blocks: usize,
}

impl Messages {
    /// A text block starts. The message that it belongs to.
    pub(super) fn block_starts(context: &mut Context) -> u64 {
        let current = context.messages.current;
        let item = current.unwrap_or_else(|| context.new_item());
        context.messages.current = Some(item);
        context.messages.open.entry(item).or_default().blocks += 1;
        item
    }

    /// A block of the message speaks for the first time. Which part of the message it is.
    pub(super) fn block_speaks(&mut self, item: u64, assembler: &mut Assembler) -> u64 {
        let message = self.open.entry(item).or_default();
        if message.parts == 0 {
            let fields = [("type", r#""message""#), ("role", r#""assistant""#)];
            assembler.announce_item(item, &Object::from_iter(fields));
        }
        message.parts += 1;
        message.parts - 1
    }

    /// A block of the message has stopped.
    pub(super) fn block_stops(&mut self, item: u64, assembler: &mut Assembler) {
        if let Some(message) = self.open.get_mut(&item) {
            message.blocks = message.blocks.saturating_sub(1);
            self.close_if_past(item, assembler);
        }
    }

    /// A block starts that is no text: the message has no more blocks.
    pub(super) fn something_else_begins(&mut self, assembler: &mut Assembler) {
        if let Some(item) = self.current.take() {
            self.close_if_past(item, assembler);
        }
    }

    fn close_if_past(&mut self, item: u64, assembler: &mut Assembler) {
        let is_silent = self.open.get(&item).is_some_and(|message| message.blocks == 0);
        if is_silent && self.current != Some(item) {
            self.open.remove(&item);
            assembler.close_item(item);
        }
    }
}

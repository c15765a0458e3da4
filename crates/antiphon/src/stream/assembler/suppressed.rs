//! Calls that a request rules out.

use std::collections::HashSet;

use super::{Assembler, Note};
use crate::item::Item;
use crate::stream::heard::Heard;
use crate::stream::output_item::OutputItem;

/// What the upstream calls the calls that were suppressed.
#[derive(Default)]
pub(super) struct Suppressed {
    indexes: HashSet<u64>,
    ids: HashSet<String>,
}

impl Suppressed {
    /// Whether an event belongs to a call that was suppressed.
    pub(super) fn has(&self, heard: &Heard<'_>) -> bool {
        heard.index().is_some_and(|index| self.indexes.contains(&index))
            || heard.item_id().is_some_and(|id| self.ids.contains(&*id))
    }

    /// Whether the item was suppressed before.
    fn add(&mut self, item: &Item, heard: Option<&Heard<'_>>) -> bool {
        let id = item.head().id.as_ref().map(|id| id.as_str().to_owned());
        let index = heard.and_then(Heard::index);
        let known_index = index.is_some_and(|index| !self.indexes.insert(index));
        let known_id = id.is_some_and(|id| !self.ids.insert(id));
        known_index || known_id
    }
}

impl Assembler {
    /// Whether the item is a call to a tool that the request rules out. Each is noted once.
    pub(super) fn suppresses(&mut self, item: &Item, heard: Option<&Heard<'_>>) -> bool {
        let Some(tool) = self.permission.ruled_out(item) else {
            return false;
        };
        if !self.suppressed.add(item, heard) {
            self.identity.notes.push(Note::CallSuppressed { tool: tool.to_string() });
        }
        true
    }

    /// Whether the item, which is none that was told of, is one call more than the request allows. Each
    /// is noted once.
    pub(super) fn suppresses_another(&mut self, item: &Item, heard: Option<&Heard<'_>>) -> bool {
        if !self.permission.is_one_too_many(item, self.items.iter().map(OutputItem::given)) {
            return false;
        }
        if !self.suppressed.add(item, heard) {
            let tool = item.object().string("name").unwrap_or_default().into_owned();
            self.identity.notes.push(Note::ParallelCallSuppressed { tool });
        }
        true
    }

    /// Notes that a call is missing from an answer that is complete, where the request demands one.
    pub(super) fn note_missing_call(&mut self) {
        if !self.permission.is_heeded(self.items.iter().map(OutputItem::item)) {
            let tool = self.permission.demanded().map(ToString::to_string);
            self.identity.notes.push(Note::CallMissing { tool });
        }
    }
}

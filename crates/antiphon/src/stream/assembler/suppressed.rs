//! Suppresses the calls that a request forbids.

use std::collections::HashSet;

use super::{Assembler, Note};
use crate::item::Item;
use crate::stream::output_item::OutputItem;
use crate::stream::upstream_event::UpstreamEvent;

/// The upstream's indexes and ids of the suppressed calls.
#[derive(Default)]
pub(super) struct SuppressedCalls {
    indexes: HashSet<u64>,
    ids: HashSet<String>,
}

impl SuppressedCalls {
    /// Whether the event belongs to a suppressed call.
    pub(super) fn has(&self, event: &UpstreamEvent<'_>) -> bool {
        event.index().is_some_and(|index| self.indexes.contains(&index))
            || event.item_id().is_some_and(|id| self.ids.contains(&*id))
    }

    /// Adds a call. Returns whether it was suppressed before.
    fn add(&mut self, item: &Item, event: Option<&UpstreamEvent<'_>>) -> bool {
        let id = item.head().id.as_ref().map(|id| id.as_str().to_owned());
        let index = event.and_then(UpstreamEvent::index);
        let known_index = index.is_some_and(|index| !self.indexes.insert(index));
        let known_id = id.is_some_and(|id| !self.ids.insert(id));
        known_index || known_id
    }
}

impl Assembler {
    /// Whether the item calls a tool that the request forbids. Each such call is noted once.
    pub(super) fn suppresses(&mut self, item: &Item, event: Option<&UpstreamEvent<'_>>) -> bool {
        let Some(tool) = self.permission.forbidden_tool(item) else {
            return false;
        };
        if !self.suppressed.add(item, event) {
            self.identity.notes.push(Note::CallSuppressed { tool: tool.to_string() });
        }
        true
    }

    /// Whether the item, which is new, exceeds the number of calls that the request allows. Each
    /// such call is noted once.
    pub(super) fn suppresses_extra(
        &mut self,
        item: &Item,
        event: Option<&UpstreamEvent<'_>>,
    ) -> bool {
        if !self.permission.exceeds_limit(item, self.items.iter().map(OutputItem::upstream_item)) {
            return false;
        }
        if !self.suppressed.add(item, event) {
            let tool = item.object().string("name").unwrap_or_default().into_owned();
            self.identity.notes.push(Note::ParallelCallSuppressed { tool });
        }
        true
    }

    /// Notes a missing call if the request requires one.
    pub(super) fn note_missing_call(&mut self) {
        if !self.permission.is_satisfied_by(self.items.iter().map(OutputItem::item)) {
            let tool = self.permission.required_tool().map(ToString::to_string);
            self.identity.notes.push(Note::CallMissing { tool });
        }
    }
}

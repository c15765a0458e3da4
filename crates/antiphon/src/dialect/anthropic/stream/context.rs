//! State that the blocks of one answer share.

use std::collections::HashSet;

use super::calls::Calls;
use super::messages::Messages;
use crate::dialect::RequestContext;
use crate::json::Object;
use crate::stream::Assembler;

/// The maximum of delta types to report. Anthropic documents fewer.
const MAX_KINDS: usize = 32;

/// The state of an answer that its blocks share.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) request: RequestContext,
    pub(super) messages: Messages,
    pub(super) calls: Calls,
    next_item: u64,
    /// The delta types that were left out. Each is reported once.
    left_out: HashSet<String>,
}

impl Context {
    pub(super) fn new(context: RequestContext) -> Self {
        Self {
            request: context,
            messages: Messages::default(),
            calls: Calls::default(),
            next_item: 0,
            left_out: HashSet::new(),
        }
    }

    /// The index of a new item for the assembler. Block indexes cannot serve for this, because some
    /// servers use an index twice.
    pub(super) fn new_item(&mut self) -> u64 {
        self.next_item += 1;
        self.next_item - 1
    }

    /// Leaves out a delta whose type is unknown or does not fit its block.
    pub(super) fn leave_out_delta(
        &mut self,
        delta: &Object<'_>,
        why: &str,
        assembler: &mut Assembler,
    ) {
        let kind = delta.string("type").unwrap_or_default();
        if self.left_out.len() < MAX_KINDS && !self.left_out.contains(&*kind) {
            assembler.leave_out(format!("delta '{kind}' {why}"));
            self.left_out.insert(kind.into_owned());
        }
    }
}

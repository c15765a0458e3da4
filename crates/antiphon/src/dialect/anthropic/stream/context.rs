//! What the blocks of one answer share.

use std::collections::HashSet;

use super::calls::Calls;
use super::messages::Messages;
use crate::dialect::Asked;
use crate::json::Object;
use crate::stream::Assembler;

/// How many types of deltas are reported: there are fewer in Anthropic's documentation.
const MAX_KINDS: usize = 32;

/// What is known of the answer besides its blocks.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) asked: Asked,
    pub(super) messages: Messages,
    pub(super) calls: Calls,
    next_item: u64,
    /// The types of deltas that were left out: each is reported once.
    left_out: HashSet<String>,
}

impl Context {
    pub(super) fn new(asked: Asked) -> Self {
        Self {
            asked,
            messages: Messages::default(),
            calls: Calls::default(),
            next_item: 0,
            left_out: HashSet::new(),
        }
    }

    /// The index under which the assembler is told of a new item. Blocks have indexes of their own,
    /// which some servers give twice.
    pub(super) fn new_item(&mut self) -> u64 {
        self.next_item += 1;
        self.next_item - 1
    }

    /// A delta of a type that is not known, or that its block cannot have.
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

//! The calls of one answer by their ids.
//!
//! Models and proxies sometimes send one `tool_use` id in two blocks. Anthropic rejects both blocks
//! in the next request ("`tool_use` ids must be unique").

use std::collections::HashMap;

use super::call::{Call, CallKey};
use crate::stream::Assembler;

/// Decides which blocks belong to one call.
///
/// ```text
///   first block ──> Empty ── input ──> Streaming ── stop ──> Ended
///                     └── stop, or another block of the same key stops with an input ──> Ended
/// ```
///
/// A later block with the same id and tool repeats the call if its input is the same or empty: the
/// block is left out, and reported. With another input it is another call, which gets an id from
/// the assembler, and this is reported too. Its input is held until the first call's input is
/// complete.
#[derive(Debug, Default)]
pub(super) struct Calls {
    by_key: HashMap<CallKey, KnownCall>,
}

#[derive(Debug)]
struct KnownCall {
    /// The item of the first block.
    item: u64,
    state: State,
    /// Later blocks of the same key that stopped before the call ended.
    later: Vec<Call>,
}

#[derive(Debug)]
enum State {
    Empty,
    Streaming,
    Ended { input: String },
}

impl Calls {
    /// Whether a starting block is the first of its key. A call without an id is always new.
    pub(super) fn is_new(&mut self, call: &Call) -> bool {
        if call.key.id.is_empty() {
            return true;
        }
        let new = || KnownCall { item: call.item, state: State::Empty, later: Vec::new() };
        self.by_key.entry(call.key.clone()).or_insert_with(new).item == call.item
    }

    /// Records that a block has input. Returns whether its input may be streamed to the client.
    pub(super) fn record_input(&mut self, call: &Call) -> bool {
        let Some(known) = self.by_key.get_mut(&call.key) else { return true };
        let is_first = known.item == call.item;
        if is_first && matches!(known.state, State::Empty) {
            known.state = State::Streaming;
        }
        is_first
    }

    /// Ends a block.
    pub(super) fn end(&mut self, call: Call, assembler: &mut Assembler) {
        let Some(known) = self.by_key.get_mut(&call.key) else {
            call.end_item(call.item, assembler);
            return;
        };
        let is_first = known.item == call.item;
        match &known.state {
            State::Ended { input } => emit_repeat(&call, input, assembler),
            State::Empty if !is_first && call.is_empty() => known.later.push(call),
            State::Streaming if !is_first => known.later.push(call),
            State::Empty | State::Streaming => known.end_with(&call, assembler),
        }
    }
}

impl KnownCall {
    /// Ends the call with the input of this block.
    fn end_with(&mut self, call: &Call, assembler: &mut Assembler) {
        call.end_item(self.item, assembler);
        let input = call.input();
        for later in std::mem::take(&mut self.later) {
            emit_repeat(&later, &input, assembler);
        }
        self.state = State::Ended { input };
    }
}

/// Leaves out a block that repeats a call with this `input`, or emits it as another call.
fn emit_repeat(call: &Call, input: &str, assembler: &mut Assembler) {
    if call.is_empty() || call.has_input(input) {
        assembler.leave_out(format!("content block 'tool_use' that repeats '{}'", call.key.id));
        return;
    }
    assembler.announce_other_item(call.item, &call.as_item(r#""""#));
    call.end_item(call.item, assembler);
}

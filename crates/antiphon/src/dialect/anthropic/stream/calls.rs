//! The calls of one answer, by their ids.
//!
//! A known fault of models and of what stands between: one `tool_use` id in two blocks. Anthropic
//! refuses both when they come back (*`tool_use` ids must be unique*).

use std::collections::HashMap;

use super::call::{Call, CallName};
use crate::stream::Assembler;

/// Decides which blocks are one call.
///
/// ```text
///   first block ──> Silent ── input ──> Speaking ── stop ──> Ended
///                     └── stop, or another block of the same name stops with an input ──> Ended
/// ```
///
/// A block of the same id and tool is the same call once more where it says the same or nothing: it
/// is left out, and reported. Where it says something else it is another call, which gets an id of
/// ours, and that is reported too. The input of such a block is held until it is known.
#[derive(Debug, Default)]
pub(super) struct Calls {
    by_name: HashMap<CallName, Known>,
}

#[derive(Debug)]
struct Known {
    /// The item of the first block.
    item: u64,
    state: State,
    /// Blocks of the same name that stopped before it was known what the call says.
    later: Vec<Call>,
}

#[derive(Debug)]
enum State {
    Silent,
    Speaking,
    Ended { input: String },
}

impl Calls {
    /// Whether a block that starts is the first of its name. Calls without an id are all new.
    pub(super) fn is_new(&mut self, call: &Call) -> bool {
        if call.name.id.is_empty() {
            return true;
        }
        let new = || Known { item: call.item, state: State::Silent, later: Vec::new() };
        self.by_name.entry(call.name.clone()).or_insert_with(new).item == call.item
    }

    /// A block speaks: whether clients are told what it says as it says it.
    pub(super) fn speaks_for_itself(&mut self, call: &Call) -> bool {
        let Some(known) = self.by_name.get_mut(&call.name) else { return true };
        let is_first = known.item == call.item;
        if is_first && matches!(known.state, State::Silent) {
            known.state = State::Speaking;
        }
        is_first
    }

    /// A block has ended.
    pub(super) fn end(&mut self, call: Call, assembler: &mut Assembler) {
        let Some(known) = self.by_name.get_mut(&call.name) else {
            call.end_item(call.item, assembler);
            return;
        };
        let is_first = known.item == call.item;
        match &known.state {
            State::Ended { input } => tell_again(&call, input, assembler),
            State::Silent if !is_first && call.is_empty() => known.later.push(call),
            State::Speaking if !is_first => known.later.push(call),
            State::Silent | State::Speaking => known.end_as(&call, assembler),
        }
    }
}

impl Known {
    /// The call is what this block says.
    fn end_as(&mut self, call: &Call, assembler: &mut Assembler) {
        call.end_item(self.item, assembler);
        let input = call.input();
        for later in std::mem::take(&mut self.later) {
            tell_again(&later, &input, assembler);
        }
        self.state = State::Ended { input };
    }
}

/// A block of the same name as a call that said `input`.
fn tell_again(call: &Call, input: &str, assembler: &mut Assembler) {
    if call.is_empty() || call.says(input) {
        assembler.leave_out(format!("content block 'tool_use' that repeats '{}'", call.name.id));
        return;
    }
    assembler.announce_other_item(call.item, &call.as_item(r#""""#));
    call.end_item(call.item, assembler);
}

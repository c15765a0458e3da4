//! Repairs calls and outputs without a `call_id`, if only one pairing is possible.

use std::collections::HashMap;

use super::calls::call_id_fault;
use super::{Action, Draft, OnOutputWithoutCall, Policy};
use crate::faults::Fault;
use crate::item::{InferredPairs, Item, with_pairing};

/// Pairs calls without a `call_id` with outputs whose call is missing, and outputs without one with
/// unanswered calls. Leaves out every other output without a `call_id`. Calls without one that no
/// output names are left for the repair of calls.
pub(super) fn repair(draft: &mut Draft, policy: &Policy) {
    let fresh = draft.items().filter(|(position, _)| !draft.is_held(*position));
    let faults: HashMap<usize, Fault> = fresh
        .filter(|(_, item)| item.lacks_call_id())
        .map(|(position, item)| (position, call_id_fault(item)))
        .collect();
    if faults.is_empty() {
        return;
    }
    for position in faults.keys() {
        if draft.item(*position).head().pairing().is_none() {
            draft.change(*position, with_pairing);
        }
    }
    let items: Vec<(usize, &Item)> = draft.items().collect();
    let pairs = InferredPairs::find(&items, &faults.keys().copied().collect());
    if policy.outputs_without_call != OnOutputWithoutCall::Keep {
        for (call, output) in pairs.by_output {
            copy_call_id(draft, output, call, &faults);
        }
    }
    for (call, output) in pairs.by_call {
        copy_call_id(draft, call, output, &faults);
    }
    for output in pairs.unpaired_outputs {
        draft.leave_out(output, faults[&output].clone(), Action::Dropped);
    }
}

/// Gives the item at `to`, one of those with a fault, the `call_id` of the item at `from`.
fn copy_call_id(draft: &mut Draft, from: usize, to: usize, faults: &HashMap<usize, Fault>) {
    if let Some((_, key)) = draft.item(from).head().pairing() {
        draft.note(to, faults[&to].clone(), Action::CallIdAdded);
        draft.change(to, |item| item.with_call_id(&key.call_id));
    }
}

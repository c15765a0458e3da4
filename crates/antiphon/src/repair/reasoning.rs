//! Repairs reasoning: an item of the model has to follow it.

use std::collections::HashSet;

use super::{Action, Draft};
use crate::faults::Fault;
use crate::item::{Head, Item, Kind};

/// Leaves out reasoning that no item of the model follows. If an item did in the `given` list, the
/// repair is a consequence of another one.
pub(super) fn repair(draft: &mut Draft, given: &[Item]) {
    let lone_before: HashSet<usize> =
        lone_reasoning(given.iter().enumerate()).into_iter().collect();
    for position in lone_reasoning(draft.items()) {
        let id = draft.item(position).head().id.clone();
        let fault = Fault::LoneReasoning { id };
        if lone_before.contains(&position) {
            draft.leave_out(position, fault, Action::Dropped);
        } else {
            draft.leave_out_as_consequence(position, fault);
        }
    }
}

/// The positions of reasoning that no item of the model follows.
pub(super) fn lone_reasoning<'a>(
    items: impl DoubleEndedIterator<Item = (usize, &'a Item)>,
) -> Vec<usize> {
    let mut lone = Vec::new();
    let mut is_followed = false;
    for (position, item) in items.rev() {
        let head = item.head();
        if head.kind != Kind::Reasoning {
            is_followed = may_be_model_made(head);
        } else if !is_followed {
            lone.push(position);
        }
    }
    lone
}

/// Whether the item may come from a model. A reference may name such an item, and an unknown kind
/// may be a model's. In doubt the answer is yes, so that only certain faults are repaired.
pub(crate) fn may_be_model_made(head: &Head) -> bool {
    match &head.kind {
        Kind::ItemReference => true,
        Kind::Other(name) => !name.ends_with("_output"),
        _ => head.is_model_made(),
    }
}

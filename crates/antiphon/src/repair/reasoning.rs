//! Reasoning has to be followed by what the model made of it.

use std::collections::HashSet;

use super::{Action, Draft};
use crate::faults::Fault;
use crate::item::{Head, Item, Kind};

/// Leaves out lone reasoning: what was so in `given`, and what became so in the draft.
pub(super) fn mend(draft: &mut Draft, given: &[Item]) {
    let lone_before: HashSet<usize> = lone(given.iter().enumerate()).into_iter().collect();
    for position in lone(draft.items()) {
        let id = draft.item(position).head().id.clone();
        let fault = Fault::LoneReasoning { id };
        if lone_before.contains(&position) {
            draft.leave_out(position, fault, Action::Dropped);
        } else {
            draft.leave_out_in_consequence(position, fault);
        }
    }
}

/// The positions of reasoning that nothing of the model's follows.
pub(super) fn lone<'a>(items: impl DoubleEndedIterator<Item = (usize, &'a Item)>) -> Vec<usize> {
    let mut lone = Vec::new();
    let mut is_followed = false;
    for (position, item) in items.rev() {
        let head = item.head();
        if head.kind != Kind::Reasoning {
            is_followed = may_be_the_models(head);
        } else if !is_followed {
            lone.push(position);
        }
    }
    lone
}

/// References are to what a server issued, and kinds that nobody knows may be a model's: what is
/// not certain to be refused is not touched.
pub(crate) fn may_be_the_models(head: &Head) -> bool {
    match &head.kind {
        Kind::ItemReference => true,
        Kind::Other(name) => !name.ends_with("_output"),
        _ => head.is_model_made(),
    }
}

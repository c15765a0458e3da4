//! Repairs references: each has to name an item that the receiver holds.

use super::{Action, Draft, OnUnresolvedReference, Policy};
use crate::faults::Fault;
use crate::item::{ItemId, Kind};

/// Leaves out references to unknown items, unless the policy keeps them.
pub(super) fn repair(draft: &mut Draft, policy: &Policy) {
    if policy.unresolved_references == OnUnresolvedReference::Keep {
        return;
    }
    for (position, id) in unresolved(draft, policy) {
        draft.leave_out(position, Fault::UnresolvedReference { id }, Action::Dropped);
    }
}

fn unresolved(draft: &Draft, policy: &Policy) -> Vec<(usize, ItemId)> {
    let references = draft.items().filter(|(_, item)| item.head().kind == Kind::ItemReference);
    let named = references.filter_map(|(position, item)| Some((position, item.head().id.clone()?)));
    named.filter(|(_, id)| !policy.known_ids.contains(id)).collect()
}

//! Repairs items without an id that their kind needs.

use std::collections::HashSet;

use super::{Action, Draft, OnMissingId, Policy, Repaired};
use crate::faults::Fault;
use crate::item::{DerivedIds, Item, ItemId, Kind};

/// Gives ids to items that lack the one that their kind needs, and leaves out reasoning of which
/// nothing is left. Other faults stay.
pub fn repair_missing_ids(items: &[Item]) -> Repaired {
    let mut draft = Draft::new(items);
    repair(&mut draft, &Policy::default());
    draft.into_repaired()
}

/// Gives the items ids, or leaves them out. An id would not help reasoning without content: no
/// provider stores content under it.
pub(super) fn repair(draft: &mut Draft, policy: &Policy) {
    let lacks_id = |(position, item): &(usize, &Item)| item.lacks_id() && !draft.is_held(*position);
    let lacking: Vec<usize> = draft.items().filter(lacks_id).map(|(at, _)| at).collect();
    if lacking.is_empty() {
        return;
    }
    let taken: HashSet<ItemId> =
        draft.items().filter_map(|(_, item)| item.head().id.clone()).collect();
    let mut ids = DerivedIds::default();
    for position in lacking {
        let item = draft.item(position);
        let fault = Fault::MissingId { kind: item.head().kind.clone() };
        if is_left_out(item, policy) {
            draft.leave_out(position, fault, Action::Dropped);
        } else {
            let id = ids.next(item, |id| taken.contains(id));
            draft.note(position, fault, Action::IdAdded);
            draft.change(position, |item| item.with(|object| object.set_string("id", id.as_str())));
        }
    }
}

fn is_left_out(item: &Item, policy: &Policy) -> bool {
    let head = item.head();
    let drops = policy.missing_ids == OnMissingId::Drop && head.pairing().is_none();
    head.kind == Kind::Reasoning || drops
}

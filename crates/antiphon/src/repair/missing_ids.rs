//! Repairs items without an id that their kind needs, or with an empty one.

use std::collections::HashSet;

use super::{Action, Draft, OnMissingId, Policy, Repaired};
use crate::faults::Fault;
use crate::item::{DerivedIds, Item, ItemId};

/// Gives ids to items that lack the one that their kind needs, and leaves out references without an
/// id and reasoning of which nothing is left. Other faults stay.
pub fn repair_missing_ids(items: &[Item]) -> Repaired {
    let mut draft = Draft::new(items);
    repair(&mut draft, &Policy::default());
    draft.into_repaired()
}

/// Gives the items ids, or leaves them out. A new id would not help a reference or reasoning
/// without content: no provider stores an item under it.
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
        let missing = || Fault::MissingId { kind: item.head().kind.clone() };
        let empty = Fault::check_empty_id(item);
        let action = if empty.is_some() { Action::IdReplaced } else { Action::IdAdded };
        let fault = empty.unwrap_or_else(missing);
        if is_left_out(item, policy) {
            draft.leave_out(position, fault, Action::Dropped);
        } else {
            let id = ids.next(item, |id| taken.contains(id));
            draft.note(position, fault, action);
            draft.change(position, |item| item.with(|object| object.set_string("id", id.as_str())));
        }
    }
}

fn is_left_out(item: &Item, policy: &Policy) -> bool {
    let drops = policy.missing_ids == OnMissingId::Drop && item.head().pairing().is_none();
    item.is_only_an_id() || drops
}

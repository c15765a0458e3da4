//! Repairs item ids: each belongs to one item and has the form and length of its kind. Repairs
//! references: each has to name an item that the receiver holds.

use std::collections::HashMap;

use super::{Action, Draft, OnUnresolvedReference, Policy};
use crate::faults::Fault;
use crate::item::{CallIdField, Item, ItemId, Kind, derive_id};

pub(super) fn repair(draft: &mut Draft) {
    let owners = find_owners(draft);
    let mut uses = HashMap::new();
    for position in 0..draft.len() {
        let Some(item) = draft.get(position).filter(|item| has_own_id(item)) else {
            continue;
        };
        let Some(id) = item.head().id.clone() else {
            repair_unowned_id(draft, position);
            continue;
        };
        let owner = owners[&id];
        let is_second = owner != position;
        let nth_use = uses.entry(id.clone()).or_insert(0_u64);
        *nth_use += 1;
        let shape = Fault::check_id_form(&item.head().kind, &id);
        if is_second && is_copy(draft, owner, position) {
            draft.leave_out(position, Fault::DuplicateItem { id }, Action::Dropped);
        } else if let Some(fault) = shape {
            repair_id(draft, position, fault, &id, *nth_use);
        } else if is_second {
            let fault = Fault::DuplicateItem { id: id.clone() };
            repair_id(draft, position, fault, &id, *nth_use);
        }
    }
}

/// Removes an id that does not identify its item: an empty one, or a malformed one of a local
/// shell's output.
fn repair_unowned_id(draft: &mut Draft, position: usize) {
    let item = draft.item(position);
    if let Some(fault) = Fault::check_empty_id(item).or_else(|| local_shell_output_fault(item)) {
        draft.note(position, fault, Action::IdRemoved);
        draft.change(position, |item| item.with(|object| object.remove("id")));
    }
}

/// The fault in the id of a local shell's output. The id may be that of the call, so it does not
/// identify the output, but its length counts.
fn local_shell_output_fault(item: &Item) -> Option<Fault> {
    let kind = &item.head().kind;
    if kind.call_id_field() != CallIdField::CallIdOrId {
        return None;
    }
    let object = item.object();
    object.present("call_id")?;
    let id = object.string("id")?;
    Fault::check_id_form(kind, &ItemId::from(&*id))
}

/// The id of an approval request is also its `call_id`, and is repaired as one.
fn has_own_id(item: &Item) -> bool {
    item.head().kind.call_id_field() != CallIdField::Id
}

/// For each id the item that keeps it: the first that is not a reference, or else the first.
fn find_owners(draft: &Draft) -> HashMap<ItemId, usize> {
    let is_reference = |item: &Item| item.head().kind == Kind::ItemReference;
    let mut owners = HashMap::new();
    for references in [false, true] {
        for (position, item) in draft.items() {
            let id = item.head().id.as_ref().filter(|_| is_reference(item) == references);
            if let Some(id) = id {
                owners.entry(id.clone()).or_insert(position);
            }
        }
    }
    owners
}

/// Whether the item is a copy of the owner of its id. Copies of calls and outputs were left out
/// before, and the remaining ones have a `call_id` of their own.
fn is_copy(draft: &Draft, owner: usize, position: usize) -> bool {
    let owner = draft.get(owner);
    owner.is_some_and(|owner| draft.item(position).is_copy_of(owner))
}

/// Encrypted content is bound to its id, and a reference consists of its id, so such an item is
/// left out. A call or an output stays, because its other half needs it.
pub(super) fn repair_id(
    draft: &mut Draft,
    position: usize,
    fault: Fault,
    id: &ItemId,
    nth_use: u64,
) {
    let head = draft.item(position).head();
    let is_bound_to_id = head.encrypted && head.pairing().is_none();
    let needs_id = draft.item(position).needs_id();
    if is_bound_to_id || draft.item(position).is_only_an_id() {
        draft.leave_out(position, fault, Action::Dropped);
    } else if needs_id {
        let new = derive_id(&head.kind, id.as_str().as_bytes(), nth_use);
        draft.note(position, fault, Action::IdReplaced);
        draft.change(position, |item| item.with(|object| object.set_string("id", new.as_str())));
    } else {
        draft.note(position, fault, Action::IdRemoved);
        draft.change(position, |item| item.with(|object| object.remove("id")));
    }
}

/// Leaves out references to unknown items, unless the policy keeps them.
pub(super) fn repair_references(draft: &mut Draft, policy: &Policy) {
    if policy.unresolved_references == OnUnresolvedReference::Keep {
        return;
    }
    for (position, id) in find_unresolved(draft, policy) {
        draft.leave_out(position, Fault::UnresolvedReference { id }, Action::Dropped);
    }
}

fn find_unresolved(draft: &Draft, policy: &Policy) -> Vec<(usize, ItemId)> {
    let references = draft.items().filter(|(_, item)| item.head().kind == Kind::ItemReference);
    let named = references.filter_map(|(position, item)| Some((position, item.head().id.clone()?)));
    named.filter(|(_, id)| !policy.known_ids.contains(id)).collect()
}

//! Item ids: one item each, of the right shape and length.

use std::collections::HashSet;

use super::{Action, Draft};
use crate::faults::{Fault, MAX_ID_LENGTH};
use crate::item::{Item, ItemId, Kind};

pub(super) fn mend(draft: &mut Draft) {
    let mut seen = HashSet::new();
    let mut faults = Vec::new();
    for (position, item) in draft.items() {
        let Some(id) = &item.head().id else { continue };
        if let Some(fault) = shape_fault(item, id) {
            faults.push((position, fault));
        } else if item.head().kind != Kind::ItemReference && !seen.insert(id.clone()) {
            faults.push((position, Fault::DuplicateItem { id: id.clone() }));
        }
    }
    for (position, fault) in faults {
        match fault {
            Fault::DuplicateItem { .. } => draft.drop_item(position, fault),
            _ => remove_id(draft, position, fault),
        }
    }
}

/// What is wrong with the form of an id. Only of kinds whose form providers check.
fn shape_fault(item: &Item, id: &ItemId) -> Option<Fault> {
    let kind = &item.head().kind;
    let checked = matches!(
        kind,
        Kind::Message | Kind::Reasoning | Kind::FunctionCall | Kind::CustomToolCall
    );
    let prefix = kind.id_prefix();
    if id.as_str().chars().count() > MAX_ID_LENGTH {
        return Some(Fault::OverlongId { id: id.clone() });
    }
    (checked && !id.as_str().starts_with(prefix)).then(|| Fault::MalformedId {
        id: id.clone(),
        prefix,
    })
}

/// Encrypted content is bound to its id, so such an item cannot go without.
fn remove_id(draft: &mut Draft, position: usize, fault: Fault) {
    let encrypted = draft.slots[position]
        .item
        .as_ref()
        .is_some_and(|item| item.head().encrypted);
    if encrypted {
        draft.drop_item(position, fault);
        return;
    }
    draft.note(position, fault, Action::IdRemoved);
    draft.change(position, |item| item.with(|object| object.remove("id")));
}

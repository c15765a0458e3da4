//! A history and the items stored before it. `check` and `repair` share its definition of stored
//! items.

use std::collections::HashSet;

use antiphon::item::FingerprintKey;
use antiphon::placeholder::is_placeholder_item;
use antiphon::repair::{
    self, Finding, Held, OnUnresolvedReference, Policy, Refused, Repair, Repaired, RepairedInput,
};
use antiphon::{HeldItem, Item, ItemId, Kind, Origin, Transcript};

/// The key is public, because messages are compared within one call only.
pub(crate) const KEY: FingerprintKey = FingerprintKey::new([0; 16]);

/// The transcript of a server that stores `items`. Antiphon's placeholder items are marked as such.
pub fn transcript(items: &[Item]) -> Transcript {
    items.iter().enumerate().map(held_item).collect()
}

fn held_item((position, item): (usize, &Item)) -> HeldItem {
    let own = item.head().id.clone();
    // The ids of real items do not begin with this character.
    let id = own.unwrap_or_else(|| ItemId::from(format!("#{position}")));
    let origin = is_placeholder_item(item).then(Origin::placeholder);
    HeldItem::new(id, item, KEY, origin)
}

/// The stored items before `items`: `transcript` if given. Otherwise unknown if `items` refer to
/// items outside the list, and `None` if they do not.
pub fn before<'a>(items: &[Item], transcript: Option<&'a Transcript>) -> Option<Held<'a>> {
    match transcript {
        Some(transcript) => Some(Held::Items(transcript, KEY)),
        None => have_external_references(items).then_some(Held::Referenced),
    }
}

/// Whether the items refer to items that are not in the list. These may include calls.
fn have_external_references(items: &[Item]) -> bool {
    let is_reference = |item: &&Item| item.head().kind == Kind::ItemReference;
    let (references, items): (Vec<&Item>, Vec<&Item>) = items.iter().partition(is_reference);
    let held: HashSet<_> = items.iter().filter_map(|item| item.head().id.as_ref()).collect();
    references.iter().filter_map(|item| item.head().id.as_ref()).any(|id| !held.contains(id))
}

/// The faults of `items` after the stored items.
pub fn check(items: &[Item], held: Option<Held<'_>>) -> Vec<Finding> {
    if let Some(held) = held {
        return repair::check_held(held, items);
    }
    let found = |(position, fault)| Finding {
        position: Some(position),
        id: items[position].head().id.clone(),
        fault: Some(fault),
        action: None,
        is_by_policy: false,
    };
    repair::check(items).into_iter().map(found).collect()
}

/// Repairs `items` after the stored items. If the policy drops references, the referenced items do
/// not count as stored.
pub fn repair(
    items: &[Item],
    held: Option<Held<'_>>,
    policy: &Policy,
) -> Result<RepairedInput, Refused> {
    let drops_references = policy.unresolved_references == OnUnresolvedReference::Drop;
    match held {
        Some(Held::Referenced) if drops_references => {
            repair::repair_with(items, policy).map(continuation)
        }
        Some(held) => repair::repair_held(held, items, policy),
        None => repair::repair_with(items, policy).map(continuation),
    }
}

/// A repaired list that continues nothing.
pub fn continuation(repaired: Repaired) -> RepairedInput {
    let finding = |mend: Repair| Finding {
        position: Some(mend.position),
        id: mend.id,
        fault: Some(mend.fault),
        action: Some(mend.action),
        is_by_policy: false,
    };
    let Repaired { items, sources, repairs } = repaired;
    RepairedInput { items, sources, findings: repairs.into_iter().map(finding).collect() }
}

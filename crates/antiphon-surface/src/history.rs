//! A history and what is held before it: the one place where it is said what `check` and `repair`
//! take for held.

use std::collections::HashSet;

use antiphon::item::FingerprintKey;
use antiphon::made_up::is_made_up;
use antiphon::repair::{
    self, Continuation, Finding, Held, Mend, OnUnresolvedReference, Policy, Refused, Repaired,
};
use antiphon::{HeldItem, Item, ItemId, Kind, Origin, Transcript};

/// Messages are compared within one call, so that the key need not be a secret.
pub(crate) const KEY: FingerprintKey = FingerprintKey::new([0; 16]);

/// What a server holds that holds `items`. What only Antiphon makes up is held as made up.
pub fn transcript(items: &[Item]) -> Transcript {
    items.iter().enumerate().map(held_item).collect()
}

fn held_item((position, item): (usize, &Item)) -> HeldItem {
    let own = item.head().id.clone();
    // No id of an item begins like this.
    let id = own.unwrap_or_else(|| ItemId::from(format!("#{position}")));
    let origin = is_made_up(item).then(Origin::made_up);
    HeldItem::new(id, item, KEY, origin)
}

/// What is held before `items`: what was said to be, or, where they name what they do not contain,
/// what nobody can tell. `None` where they stand for themselves.
pub fn before<'a>(items: &[Item], transcript: Option<&'a Transcript>) -> Option<Held<'a>> {
    match transcript {
        Some(transcript) => Some(Held::Items(transcript, KEY)),
        None => refer_beyond_themselves(items).then_some(Held::Referenced),
    }
}

/// Whether the items name items that are not among them: calls may be among those.
fn refer_beyond_themselves(items: &[Item]) -> bool {
    let is_reference = |item: &&Item| item.head().kind == Kind::ItemReference;
    let (references, items): (Vec<&Item>, Vec<&Item>) = items.iter().partition(is_reference);
    let held: HashSet<_> = items.iter().filter_map(|item| item.head().id.as_ref()).collect();
    references.iter().filter_map(|item| item.head().id.as_ref()).any(|id| !held.contains(id))
}

/// What is wrong with `items` behind what is held.
pub fn check(items: &[Item], held: Option<Held<'_>>) -> Vec<Finding> {
    if let Some(held) = held {
        return repair::check_held(held, items);
    }
    let found = |(position, fault)| Finding {
        position: Some(position),
        id: items[position].head().id.clone(),
        fault: Some(fault),
        action: None,
    };
    repair::check(items).into_iter().map(found).collect()
}

/// Mends `items` behind what is held. Where the policy leaves references out, what they name is no
/// excuse for anything.
pub fn repair(
    items: &[Item],
    held: Option<Held<'_>>,
    policy: &Policy,
) -> Result<Continuation, Refused> {
    let drops_references = policy.unresolved_references == OnUnresolvedReference::Drop;
    match held {
        Some(Held::Referenced) if drops_references => {
            repair::repair_with(items, policy).map(continuation)
        }
        Some(held) => repair::repair_held(held, items, policy),
        None => repair::repair_with(items, policy).map(continuation),
    }
}

/// A repaired list as the continuation of nothing.
pub fn continuation(repaired: Repaired) -> Continuation {
    let finding = |mend: Mend| Finding {
        position: Some(mend.position),
        id: mend.id,
        fault: Some(mend.fault),
        action: Some(mend.action),
    };
    let Repaired { items, sources, mends } = repaired;
    Continuation { items, sources, findings: mends.into_iter().map(finding).collect() }
}

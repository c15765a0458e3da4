//! Repairs items that are sent to a server which holds the conversation before them.

use std::collections::BTreeMap;

use super::{Draft, Policy, Repaired, calls, reasoning, repair_draft};
use crate::faults::Fault;
use crate::item::{CallKey, Exchange, Exchanges, Item, ItemId, Kind, PairRole};
use crate::placeholder::placeholder;

/// Repairs the items after the first `held` of `items`, for a server that holds those first ones.
///
/// The others are the items that [`reconcile`](crate::reconcile::reconcile) found to be fresh. The
/// result contains only items to send. Placeholder outputs for unanswered held calls come first, or
/// after the fresh items that belong to the same run of the model. A repair of a held item has the
/// position of that item.
///
/// Held items may be outlines ([`HeldItem::outline`](crate::HeldItem::outline)) and never change;
/// [`blocking_items`] finds those that block the request. A fault that `policy` rejects is repaired
/// as well. Once the server holds the result, a second repair finds nothing.
pub fn repair_after(held: usize, items: &[Item], policy: &Policy) -> Repaired {
    repair_draft(items, Draft::with_held(held, items), policy).into_repaired()
}

/// An item that a server holds and that makes it refuse every request until it is deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockingItem {
    /// The item's position among the held items.
    pub position: usize,
    /// The item's own id, if it has one.
    pub id: Option<ItemId>,
    /// The fault that the server reports for it.
    pub fault: Fault,
}

/// Finds the items among the first `held` of `items` for which a server that holds them refuses
/// even the input that [`repair_after`] returns. They are in the order of their positions:
///
/// - outputs whose call is gone,
/// - unanswered calls whose kind has no placeholder output (a computer's output is a screenshot),
/// - reasoning that no item of the model follows, or none after those calls are deleted.
///
/// `items` has to list everything that the server holds: otherwise the call of an output may be
/// missing from it. Once these items are deleted, the server accepts the result of
/// [`repair_after`] for the remaining ones.
pub fn blocking_items(held: usize, items: &[Item]) -> Vec<BlockingItem> {
    let sent = repair_after(held, items, &Policy::default()).items;
    let items: Vec<&Item> = items[..held].iter().chain(&sent).collect();
    let mut faults = find_unpaired(&items);
    let left = items.iter().enumerate().filter(|(position, _)| !faults.contains_key(position));
    for position in reasoning::find_lone_reasoning(left.map(|(position, item)| (position, *item))) {
        let id = items[position].head().id.clone();
        faults.insert(position, Fault::LoneReasoning { id });
    }
    let of_held = faults.into_iter().take_while(|(position, _)| *position < held);
    let blocking_items = |(position, fault): (usize, Fault)| {
        let id = items[position].head().id.clone();
        BlockingItem { position, id, fault }
    };
    of_held.map(blocking_items).collect()
}

/// Calls and outputs without their other half, if there is no placeholder for it, by position.
fn find_unpaired(items: &[&Item]) -> BTreeMap<usize, Fault> {
    let mut exchanges = Exchanges::default();
    let mut faults = BTreeMap::new();
    for (position, item) in items.iter().enumerate() {
        if exchanges.push(position, item.head()) == Some(PairRole::OrphanOutput) {
            faults.insert(position, calls::output_without_call(item));
        }
    }
    let waiting = exchanges.iter().flat_map(Exchange::waiting);
    let lost = waiting.filter(|position| is_unanswerable(&items[*position].head().kind));
    faults.extend(lost.filter_map(|position| {
        let (_, CallKey { kind, call_id }) = items[position].head().pairing()?;
        Some((position, Fault::UnansweredCall { kind, call_id }))
    }));
    faults
}

/// Whether an unanswered call of this kind cannot be repaired.
pub(super) fn is_unanswerable(kind: &Kind) -> bool {
    kind.must_be_answered() && placeholder(kind).is_none()
}

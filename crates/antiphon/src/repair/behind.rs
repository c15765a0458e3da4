//! What is sent to a server that holds the conversation before it, as its owner.

use std::collections::BTreeMap;

use super::{Policy, Repaired, calls, mended, reasoning};
use crate::faults::Fault;
use crate::item::{CallKey, Exchange, Exchanges, Item, ItemId, Joined, Kind};
use crate::made_up::silence;

/// Mends what is to be sent to a server that holds the first `held` of `items`; the others are what
/// [`reconcile`](crate::reconcile::reconcile) found to be fresh. What comes back is what to send:
/// outputs for calls that the server holds and nobody answered come first, or behind what of the same
/// run of the model's is sent only now. Mends of what is held have its positions.
///
/// What is held may be outlines ([`HeldItem::outline`](crate::HeldItem::outline)), and stays as it
/// is: what of it keeps the server from taking anything is [`unmendable`]. The policy rejects nothing.
/// Once what came back was sent and is held, nothing more is to be mended.
pub fn repair_behind(held: usize, items: &[Item], policy: &Policy) -> Repaired {
    mended(items, held, policy).into_repaired()
}

/// Something that a server holds, for which it refuses every request until it is deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmendable {
    /// The item's position among what is held.
    pub position: usize,
    /// The id that the item itself carries, where it has one.
    pub id: Option<ItemId>,
    /// What the server says of it.
    pub fault: Fault,
}

/// What of the first `held` of `items` a server that holds them refuses, although it is sent the others
/// as [`repair_behind`] mends them: outputs whose call is gone; calls that nobody answered and whose
/// output cannot be made up (a computer's is a screenshot); and reasoning that nothing of the model's
/// follows, or would once those calls are deleted. In order.
///
/// Only for lists that say all that the server holds: what they leave out may be the call of an
/// output. Once these items are deleted, the server takes what [`repair_behind`] gives without them.
pub fn unmendable(held: usize, items: &[Item]) -> Vec<Unmendable> {
    let sent = repair_behind(held, items, &Policy::default()).items;
    let items: Vec<&Item> = items[..held].iter().chain(&sent).collect();
    let mut faults = unpaired(&items);
    let left = items.iter().enumerate().filter(|(position, _)| !faults.contains_key(position));
    for position in reasoning::lone(left.map(|(position, item)| (position, *item))) {
        let id = items[position].head().id.clone();
        faults.insert(position, Fault::LoneReasoning { id });
    }
    let of_held = faults.into_iter().take_while(|(position, _)| *position < held);
    let unmendable = |(position, fault): (usize, Fault)| {
        let id = items[position].head().id.clone();
        Unmendable { position, id, fault }
    };
    of_held.map(unmendable).collect()
}

/// Calls and outputs whose other half is missing and cannot be made up, by position.
fn unpaired(items: &[&Item]) -> BTreeMap<usize, Fault> {
    let mut exchanges = Exchanges::default();
    let mut faults = BTreeMap::new();
    for (position, item) in items.iter().enumerate() {
        if exchanges.push(position, item.head()) == Some(Joined::Orphan) {
            faults.insert(position, calls::output_without_call(item));
        }
    }
    let waiting = exchanges.iter().flat_map(Exchange::waiting);
    let lost = waiting.filter(|position| is_lost(&items[*position].head().kind));
    faults.extend(lost.filter_map(|position| {
        let (_, CallKey { kind, call_id }) = items[position].head().pairing()?;
        Some((position, Fault::UnansweredCall { kind, call_id }))
    }));
    faults
}

/// Whether a call of this kind that nobody answered is refused, whatever is sent.
pub(super) fn is_lost(kind: &Kind) -> bool {
    kind.must_be_answered() && silence(kind).is_none()
}

//! Prepares a history that the client owns for a request.

mod dedupe;
mod orphans;

pub use dedupe::dedupe;
pub use orphans::{Dropped, Pruned, prune};

use crate::item::{Exchanges, Item, PairRole};

/// Returns the input of a turn's request: `history` cut to `limit`, without duplicates and calls
/// that have no output, followed by the unchanged `input`. The stored history does not change.
pub fn prepare(history: &[Item], input: &[Item], limit: Option<usize>) -> Vec<Item> {
    prune(&dedupe(&latest(history, limit)), input).items
}

/// Returns the latest `limit` items of `history`, or all items without a limit.
///
/// If the cut separates a call from its output, the output is dropped too. An output that never had
/// a call stays, because a limit does not repair histories.
pub fn latest(history: &[Item], limit: Option<usize>) -> Vec<Item> {
    let cut = limit.map_or(0, |limit| history.len().saturating_sub(limit));
    kept(history, cut, |joined| match joined {
        PairRole::Output(call) | PairRole::RepeatedOutput(call) => call >= cut,
        _ => true,
    })
}

/// Returns `window` without the outputs whose calls are not in it. The window was cut from a
/// history that is not available.
pub fn without_cut_pairs(window: &[Item]) -> Vec<Item> {
    kept(window, 0, |joined| joined != PairRole::OrphanOutput)
}

/// The items from `cut` on that pass `keeps` or belong to no call.
fn kept(items: &[Item], cut: usize, keeps: impl Fn(PairRole) -> bool) -> Vec<Item> {
    let mut exchanges = Exchanges::default();
    let joined = items.iter().enumerate().map(|(at, item)| (item, exchanges.push(at, item.head())));
    let after_cut = joined.skip(cut);
    after_cut
        .filter(|(_, joined)| joined.is_none_or(&keeps))
        .map(|(item, _)| item.clone())
        .collect()
}

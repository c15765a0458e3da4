//! A history cut to its latest items.

use crate::item::{Exchanges, Item, Joined};

/// The latest `limit` items of `history`, all of them without a limit.
///
/// Where the cut parts a call from its output, the output goes too. One that never had a call
/// stays: that is not for a limit to mend.
pub fn latest(history: &[Item], limit: Option<usize>) -> Vec<Item> {
    let cut = limit.map_or(0, |limit| history.len().saturating_sub(limit));
    kept(
        history,
        cut,
        |joined| !matches!(joined, Joined::Answers(call) | Joined::Repeats(call) if call < cut),
    )
}

/// The items of `window`, which a limit cut out of a history that is not at hand, without outputs
/// whose calls are not in it.
pub fn without_cut_pairs(window: &[Item]) -> Vec<Item> {
    kept(window, 0, |joined| joined != Joined::Orphan)
}

/// What of `items` from `cut` on is as `keeps` wants it, or does not pair.
fn kept(items: &[Item], cut: usize, keeps: impl Fn(Joined) -> bool) -> Vec<Item> {
    let mut exchanges = Exchanges::default();
    let joined = items.iter().enumerate().map(|(at, item)| (item, exchanges.push(at, item.head())));
    let after_cut = joined.skip(cut);
    after_cut
        .filter(|(_, joined)| joined.is_none_or(&keeps))
        .map(|(item, _)| item.clone())
        .collect()
}

//! Prepares a history that the client owns for a request.

mod dedupe;
mod limit;
mod orphans;

pub use dedupe::dedupe;
pub use limit::{latest, without_cut_pairs};
pub use orphans::{Dropped, Pruned, prune};

use crate::item::Item;

/// Returns the input of a turn's request: `history` cut to `limit`, without duplicates and calls
/// that have no output, followed by the unchanged `input`. The stored history does not change.
pub fn prepare(history: &[Item], input: &[Item], limit: Option<usize>) -> Vec<Item> {
    prune(&dedupe(&latest(history, limit)), input).items
}

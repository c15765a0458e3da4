//! Prepares a history that the client owns for a request.

mod dedupe;
mod limit;
mod orphans;

pub use dedupe::dedupe;
pub use limit::{latest, without_cut_pairs};
pub use orphans::{Dropped, Pruned, prune};

use crate::item::Item;

/// The request of a turn: `history` cut to `limit`, each item once, without calls that nobody
/// answered, then `input` as it is. What is stored is not touched.
pub fn prepare(history: &[Item], input: &[Item], limit: Option<usize>) -> Vec<Item> {
    prune(&dedupe(&latest(history, limit)), input).items
}

//! The items of a turn that a client's session stores, and those that it removes again.

use std::collections::HashSet;

use antiphon::item::Item;
use antiphon::tracker::{EqualItems, is_approval_placeholder};

/// The source of an item in a prepared request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ItemSource {
    /// The stored history, at this position.
    History(usize),
    /// The turn's own input, at this position.
    Input(usize),
}

/// An item of a request that a callback composed from history and input.
#[derive(Clone, Debug, PartialEq)]
pub struct PreparedItem {
    /// Its source; `None` if the callback copied, rebuilt or created it.
    pub source: Option<ItemSource>,
    /// The item.
    pub item: Item,
}

/// Returns the positions in `prepared` of the items that are not stored yet, in order.
///
/// Items from the history are stored already, in any order and any number. For an item without a
/// source, these rules apply in order:
///
/// 1. The last item that equals an item of the input is that item, and is new.
/// 2. An item that equals one of the history is a copy of it.
/// 3. Any other item was created by the callback, and is new.
pub fn find_items_to_save(
    history: &[Item],
    input: &[Item],
    prepared: &[PreparedItem],
) -> Vec<usize> {
    let stored = EqualItems::new(history.iter().enumerate());
    let new = EqualItems::new(input.iter().enumerate());
    let mut found = named_inputs(prepared);
    let mut positions = Vec::new();
    for (position, PreparedItem { source, item }) in prepared.iter().enumerate().rev() {
        let is_new = match source {
            Some(ItemSource::History(_)) => false,
            Some(ItemSource::Input(_)) => true,
            None => take(&mut found, new.equal_to(item)) || stored.equal_to(item).is_empty(),
        };
        if is_new {
            positions.push(position);
        }
    }
    positions.reverse();
    positions
}

fn named_inputs(prepared: &[PreparedItem]) -> HashSet<usize> {
    let received = prepared.iter().filter_map(|prepared| match prepared.source {
        Some(ItemSource::Input(position)) => Some(position),
        Some(ItemSource::History(_)) | None => None,
    });
    received.collect()
}

/// Returns the positions in `generated` of the items that this run has not saved. A resumed run
/// also returns items that it saved before it paused. A placeholder for a call that waits for
/// approval is never saved.
///
/// `saved` has only the items that this run saved, because users and models repeat themselves.
pub fn find_unsaved(saved: &[Item], generated: &[Item]) -> Vec<usize> {
    let lookalikes = EqualItems::new(saved.iter().enumerate());
    let mut found = HashSet::new();
    let mut is_unsaved = |(_, item): &(usize, &Item)| {
        !is_approval_placeholder(item) && !take(&mut found, lookalikes.equal_to(item))
    };
    let items = generated.iter().enumerate();
    items.filter(|item| is_unsaved(item)).map(|(position, _)| position).collect()
}

/// Takes the first candidate that is not taken yet; returns whether there was one.
fn take(taken: &mut HashSet<usize>, candidates: Vec<usize>) -> bool {
    candidates.into_iter().any(|candidate| taken.insert(candidate))
}

/// Returns the number of items to pop from `stored` to remove `tail`. `None` if `stored` does not
/// end with exactly these items: then nothing may be popped.
///
/// Another writer may have added items since. A store that has to pop before it can compare puts
/// the popped items back if this returns `None`.
pub fn count_tail_to_pop(stored: &[Item], tail: &[Item]) -> Option<usize> {
    let start = stored.len().checked_sub(tail.len())?;
    let is_same = |(one, two): (&Item, &Item)| one.raw() == two.raw();
    stored[start..].iter().zip(tail).all(is_same).then_some(tail.len())
}

//! What of a turn a client's session stores, and what it takes back.

use std::collections::HashSet;

use crate::item::Item;
use crate::tracker::{Lookalikes, is_approval_placeholder};

/// Where an item of a prepared request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The stored history, at this position.
    History(usize),
    /// The turn's own input, at this position.
    Input(usize),
}

/// An item of a request that a callback put together from history and input.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// Where it comes from; `None` where the callback copied, rebuilt or made it.
    pub source: Option<Source>,
    /// The item.
    pub item: Item,
}

/// The positions in `prepared` of what is not stored yet, in order.
///
/// What comes from the history is stored, in whatever order it stands and however often. Of items
/// that do not say where they come from, the last ones that equal an item of the input are that
/// item; what then still equals one of the history is a copy of it; the rest the callback made.
pub fn to_save(history: &[Item], input: &[Item], prepared: &[Prepared]) -> Vec<usize> {
    let stored = Lookalikes::of(history.iter().enumerate());
    let new = Lookalikes::of(input.iter().enumerate());
    let mut found = told_inputs(prepared);
    let mut positions = Vec::new();
    for (position, Prepared { source, item }) in prepared.iter().enumerate().rev() {
        let is_new = match source {
            Some(Source::History(_)) => false,
            Some(Source::Input(_)) => true,
            None => take(&mut found, new.equal_to(item)) || stored.equal_to(item).is_empty(),
        };
        if is_new {
            positions.push(position);
        }
    }
    positions.reverse();
    positions
}

fn told_inputs(prepared: &[Prepared]) -> HashSet<usize> {
    let told = prepared.iter().filter_map(|prepared| match prepared.source {
        Some(Source::Input(position)) => Some(position),
        Some(Source::History(_)) | None => None,
    });
    told.collect()
}

/// The positions in `generated` of what this run has not saved: on resume a run hands over items
/// that it saved before it paused. What only stands for a call that waits for approval is never
/// saved.
///
/// `saved` is what this run saved, and nothing older: people and models repeat themselves.
pub fn unsaved(saved: &[Item], generated: &[Item]) -> Vec<usize> {
    let lookalikes = Lookalikes::of(saved.iter().enumerate());
    let mut found = HashSet::new();
    let mut is_unsaved = |(_, item): &(usize, &Item)| {
        !is_approval_placeholder(item) && !take(&mut found, lookalikes.equal_to(item))
    };
    let items = generated.iter().enumerate();
    items.filter(|item| is_unsaved(item)).map(|(position, _)| position).collect()
}

/// Takes the first candidate that is not taken yet; says whether there was one.
fn take(taken: &mut HashSet<usize>, candidates: Vec<usize>) -> bool {
    candidates.into_iter().any(|candidate| taken.insert(candidate))
}

/// How many items to pop from `stored` so that `tail` is gone; `None` where it does not end with
/// exactly these items, and nothing may be popped.
///
/// Someone else may have written since. A store that pops before it can compare puts back what it
/// popped where this says `None`.
pub fn tail_to_pop(stored: &[Item], tail: &[Item]) -> Option<usize> {
    let start = stored.len().checked_sub(tail.len())?;
    let is_same = |(one, two): (&Item, &Item)| one.raw() == two.raw();
    stored[start..].iter().zip(tail).all(is_same).then_some(tail.len())
}

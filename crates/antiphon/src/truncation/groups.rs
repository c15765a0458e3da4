//! Groups of units that are dropped together.

use super::units::Units;
use crate::item::{Exchanges, Item, PairRole};

/// The positions of every group that can be dropped, earliest group first.
pub(super) fn groups(items: &[Item], stays: impl Fn(&Item) -> bool) -> Vec<Vec<usize>> {
    let units = Units::new(items, stays);
    let mut sets = DisjointSets::new(units.turns.len());
    join_turns(&mut sets, &units, units.last_turn(items));
    join_pairs(&mut sets, &units, items);
    let stay = sets.mark_roots(&units.stay);
    let mut places: Vec<Option<usize>> = vec![None; units.turns.len()];
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (position, unit) in units.of_items.iter().enumerate() {
        let Some(root) = unit.map(|unit| sets.root(unit)).filter(|root| !stay[*root]) else {
            continue;
        };
        let place = *places[root].get_or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[place].push(position);
    }
    groups
}

/// Joins the units of every turn except the last.
fn join_turns(sets: &mut DisjointSets, units: &Units, last_turn: usize) {
    for unit in 1..units.turns.len() {
        if units.turns[unit] == units.turns[unit - 1] && units.turns[unit] < last_turn {
            sets.join(unit - 1, unit);
        }
    }
}

/// Joins the units of a call and of its output.
fn join_pairs(sets: &mut DisjointSets, units: &Units, items: &[Item]) {
    let mut exchanges = Exchanges::default();
    for (position, item) in items.iter().enumerate() {
        let joined = exchanges.push(position, item.head());
        let Some(PairRole::Output(call) | PairRole::RepeatedOutput(call)) = joined else {
            continue;
        };
        if let (Some(call), Some(output)) = (units.of_items[call], units.of_items[position]) {
            sets.join(call, output);
        }
    }
}

/// A disjoint-set forest of units.
struct DisjointSets(Vec<usize>);

impl DisjointSets {
    /// Creates `units` separate units.
    fn new(units: usize) -> Self {
        Self((0..units).collect())
    }

    /// The root of a unit's set: its earliest unit. Halves the path on the way.
    fn root(&mut self, mut unit: usize) -> usize {
        while self.0[unit] != unit {
            self.0[unit] = self.0[self.0[unit]];
            unit = self.0[unit];
        }
        unit
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.0[one.max(other)] = one.min(other);
    }

    /// For each root, whether `mark` is true for one of its units.
    fn mark_roots(&mut self, mark: &[bool]) -> Vec<bool> {
        let mut marked = vec![false; mark.len()];
        for (unit, _) in mark.iter().enumerate().filter(|(_, mark)| **mark) {
            let root = self.root(unit);
            marked[root] = true;
        }
        marked
    }
}

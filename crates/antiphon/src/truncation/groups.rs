//! Units that go together or not at all.

use super::units::Units;
use crate::item::{Exchanges, Item, Joined};

/// The positions of every group that can be left out, earliest group first.
pub(super) fn groups(items: &[Item], stays: impl Fn(&Item) -> bool) -> Vec<Vec<usize>> {
    let units = Units::of(items, stays);
    let mut bonds = Bonds::new(units.turns.len());
    bind_turns(&mut bonds, &units, units.last_turn(items));
    bind_pairs(&mut bonds, &units, items);
    let stay = bonds.spread(&units.stay);
    let mut places: Vec<Option<usize>> = vec![None; units.turns.len()];
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (position, unit) in units.of_items.iter().enumerate() {
        let Some(root) = unit.map(|unit| bonds.root(unit)).filter(|root| !stay[*root]) else {
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

/// The units of every turn but the last go together.
fn bind_turns(bonds: &mut Bonds, units: &Units, last_turn: usize) {
    for unit in 1..units.turns.len() {
        if units.turns[unit] == units.turns[unit - 1] && units.turns[unit] < last_turn {
            bonds.bind(unit - 1, unit);
        }
    }
}

/// So do a call's unit and its output's.
fn bind_pairs(bonds: &mut Bonds, units: &Units, items: &[Item]) {
    let mut exchanges = Exchanges::default();
    for (position, item) in items.iter().enumerate() {
        let joined = exchanges.push(position, item.head());
        let Some(Joined::Answers(call) | Joined::Repeats(call)) = joined else { continue };
        if let (Some(call), Some(output)) = (units.of_items[call], units.of_items[position]) {
            bonds.bind(call, output);
        }
    }
}

/// Units that are bound to one another: disjoint sets, each known by a root.
struct Bonds(Vec<usize>);

impl Bonds {
    /// So many units, none bound.
    fn new(units: usize) -> Self {
        Self((0..units).collect())
    }

    /// The root of a unit's set. Paths are halved on the way, the earliest unit is the root.
    fn root(&mut self, mut unit: usize) -> usize {
        while self.0[unit] != unit {
            self.0[unit] = self.0[self.0[unit]];
            unit = self.0[unit];
        }
        unit
    }

    fn bind(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.0[one.max(other)] = one.min(other);
    }

    /// For every root whether `mark` is true of one of its units.
    fn spread(&mut self, mark: &[bool]) -> Vec<bool> {
        let mut marked = vec![false; mark.len()];
        for (unit, _) in mark.iter().enumerate().filter(|(_, mark)| **mark) {
            let root = self.root(unit);
            marked[root] = true;
        }
        marked
    }
}

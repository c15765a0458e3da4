//! Groups of items that are dropped together: first units, whose items stay together, then turns.

use crate::item::{Exchanges, Head, Item, Kind, PairRole, Role};
use crate::repair::may_be_model_made;

/// The positions of every group that can be dropped, earliest group first.
pub(super) fn find_groups(items: &[Item], stays: impl Fn(&Item) -> bool) -> Vec<Vec<usize>> {
    let units = Units::new(items, stays);
    let mut sets = DisjointSets::new(units.turns.len());
    join_turns(&mut sets, &units, units.last_turn(items));
    join_pairs(&mut sets, &units, items);
    let stay = sets.mark_roots(&units.stay);
    let mut places: Vec<Option<usize>> = vec![None; units.turns.len()];
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (position, unit) in units.by_item.iter().enumerate() {
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
        if let (Some(call), Some(output)) = (units.by_item[call], units.by_item[position]) {
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

/// The units and turns of a list of items.
struct Units {
    /// The unit of each item: items of one model output form a unit, any other item is its own
    /// unit. `None` if the item always stays.
    pub(super) by_item: Vec<Option<usize>>,
    /// The turn of each unit, from 0. A user message starts a new turn.
    pub(super) turns: Vec<usize>,
    /// The units that stay: the last user messages, and the items that the model has not answered.
    pub(super) stay: Vec<bool>,
}

impl Units {
    pub(super) fn new(items: &[Item], stays: impl Fn(&Item) -> bool) -> Self {
        let compaction = items.iter().rposition(|item| item.head().kind == Kind::Compaction);
        let mut units = Self { by_item: Vec::new(), turns: Vec::new(), stay: Vec::new() };
        let mut before: Option<&Head> = None;
        for (position, item) in items.iter().enumerate() {
            let head = item.head();
            if is_pinned(head) || compaction == Some(position) || stays(item) {
                units.by_item.push(None);
                continue;
            }
            units.push(before, head);
            before = Some(head);
        }
        units.keep_unanswered(items);
        units.keep_last_user_messages(items);
        units.keep_last_unit();
        units
    }

    /// The turn of the last user message; 0 if there is none.
    pub(super) fn last_turn(&self, items: &[Item]) -> usize {
        let units = items.iter().zip(&self.by_item).rev();
        let mut users = units.filter(|(item, unit)| is_user_message(item.head()) && unit.is_some());
        let last = users.next().and_then(|(_, unit)| *unit);
        last.map_or(0, |unit| self.turns[unit])
    }

    fn push(&mut self, before: Option<&Head>, head: &Head) {
        let current = self.turns.len().checked_sub(1);
        let continues = before.is_some_and(|before| belongs_to_unit_of(before, head));
        let unit = match current {
            Some(current) if continues => current,
            _ => {
                let turn = current.map_or(0, |current| self.turns[current]);
                let begins =
                    is_user_message(head) && before.is_some_and(|before| !is_user_message(before));
                self.turns.push(turn + usize::from(begins));
                self.stay.push(false);
                self.turns.len() - 1
            }
        };
        self.by_item.push(Some(unit));
    }

    fn keep_unanswered(&mut self, items: &[Item]) {
        for (item, unit) in items.iter().zip(&self.by_item).rev() {
            let Some(unit) = unit else { continue };
            if may_be_model_made(item.head()) {
                break;
            }
            self.stay[*unit] = true;
        }
    }

    /// If all items are the model's, its last unit stays.
    fn keep_last_unit(&mut self) {
        if !self.stay.contains(&true)
            && let Some(last) = self.stay.last_mut()
        {
            *last = true;
        }
    }

    fn keep_last_user_messages(&mut self, items: &[Item]) {
        let units = items.iter().zip(&self.by_item).rev();
        let units = units.filter_map(|(item, unit)| Some((item, (*unit)?)));
        for (item, unit) in units.skip_while(|(item, _)| !is_user_message(item.head())) {
            if !is_user_message(item.head()) {
                break;
            }
            self.stay[unit] = true;
        }
    }
}

/// Whether it instructs or configures the model for all later turns.
fn is_pinned(head: &Head) -> bool {
    head.role.is_some_and(Role::instructs)
        || head.kind.is_setting()
        || head.kind == Kind::CompactionTrigger
}

fn is_user_message(head: &Head) -> bool {
    matches!(head.role, Some(Role::User | Role::Other))
}

/// Whether an item belongs to the unit of the item before it: both are from one model output, or
/// the model continues after an approval.
fn belongs_to_unit_of(before: &Head, head: &Head) -> bool {
    let follows = may_be_model_made(before) || before.kind == Kind::McpApprovalResponse;
    follows && may_be_model_made(head)
}

//! What is never taken apart, and whose turn it belongs to.

use crate::item::{Head, Item, Kind, Role};
use crate::repair::may_be_the_models;

/// For each item of a list what it is part of.
pub(super) struct Units {
    /// The unit of each item: what a model made at once is one, every other item is one of its own.
    /// `None`: the item stays whatever happens.
    pub(super) of_items: Vec<Option<usize>>,
    /// The turn of each unit, from 0: a new one begins where a user speaks.
    pub(super) turns: Vec<usize>,
    /// Which units stay: the last words of the user, and what the model has not answered.
    pub(super) stay: Vec<bool>,
}

impl Units {
    pub(super) fn of(items: &[Item], stays: impl Fn(&Item) -> bool) -> Self {
        let compaction = items.iter().rposition(|item| item.head().kind == Kind::Compaction);
        let mut units = Self { of_items: Vec::new(), turns: Vec::new(), stay: Vec::new() };
        let mut before: Option<&Head> = None;
        for (position, item) in items.iter().enumerate() {
            let head = item.head();
            if is_pinned(head) || compaction == Some(position) || stays(item) {
                units.of_items.push(None);
                continue;
            }
            units.push(before, head);
            before = Some(head);
        }
        units.keep_what_is_unanswered(items);
        units.keep_the_last_words(items);
        units.keep_something();
        units
    }

    /// The turn of the last user's message, or the only one where there is none.
    pub(super) fn last_turn(&self, items: &[Item]) -> usize {
        let units = items.iter().zip(&self.of_items).rev();
        let mut users = units.filter(|(item, unit)| is_users(item.head()) && unit.is_some());
        let last = users.next().and_then(|(_, unit)| *unit);
        last.map_or(0, |unit| self.turns[unit])
    }

    fn push(&mut self, before: Option<&Head>, head: &Head) {
        let current = self.turns.len().checked_sub(1);
        let continues = before.is_some_and(|before| is_one_with(before, head));
        let unit = match current {
            Some(current) if continues => current,
            _ => {
                let turn = current.map_or(0, |current| self.turns[current]);
                let begins = is_users(head) && before.is_some_and(|before| !is_users(before));
                self.turns.push(turn + usize::from(begins));
                self.stay.push(false);
                self.turns.len() - 1
            }
        };
        self.of_items.push(Some(unit));
    }

    fn keep_what_is_unanswered(&mut self, items: &[Item]) {
        for (item, unit) in items.iter().zip(&self.of_items).rev() {
            let Some(unit) = unit else { continue };
            if may_be_the_models(item.head()) {
                break;
            }
            self.stay[*unit] = true;
        }
    }

    /// Where nobody but the model speaks, its last words stay.
    fn keep_something(&mut self) {
        if !self.stay.contains(&true)
            && let Some(last) = self.stay.last_mut()
        {
            *last = true;
        }
    }

    fn keep_the_last_words(&mut self, items: &[Item]) {
        let units = items.iter().zip(&self.of_items).rev();
        let units = units.filter_map(|(item, unit)| Some((item, (*unit)?)));
        for (item, unit) in units.skip_while(|(item, _)| !is_users(item.head())) {
            if !is_users(item.head()) {
                break;
            }
            self.stay[unit] = true;
        }
    }
}

/// Whether it instructs or configures the model, for all that follows.
fn is_pinned(head: &Head) -> bool {
    head.role.is_some_and(Role::instructs)
        || matches!(
            head.kind,
            Kind::AdditionalTools | Kind::ConfigurationUpdate | Kind::CompactionTrigger
        )
}

fn is_users(head: &Head) -> bool {
    matches!(head.role, Some(Role::User | Role::Other))
}

/// Whether an item is of one unit with what stands before it: a model made both at once, or went on
/// with what it had asked leave for.
fn is_one_with(before: &Head, head: &Head) -> bool {
    let follows = may_be_the_models(before) || before.kind == Kind::McpApprovalResponse;
    follows && may_be_the_models(head)
}

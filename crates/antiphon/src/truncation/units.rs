//! Units of items that stay together, and their turns.

use crate::item::{Head, Item, Kind, Role};
use crate::repair::may_be_model_made;

/// The units and turns of a list of items.
pub(super) struct Units {
    /// The unit of each item: items of one model output form a unit, any other item is its own
    /// unit. `None` if the item always stays.
    pub(super) of_items: Vec<Option<usize>>,
    /// The turn of each unit, from 0. A user message starts a new turn.
    pub(super) turns: Vec<usize>,
    /// The units that stay: the last user messages, and the items that the model has not answered.
    pub(super) stay: Vec<bool>,
}

impl Units {
    pub(super) fn new(items: &[Item], stays: impl Fn(&Item) -> bool) -> Self {
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
        units.keep_unanswered(items);
        units.keep_last_user_messages(items);
        units.keep_last_unit();
        units
    }

    /// The turn of the last user message; 0 if there is none.
    pub(super) fn last_turn(&self, items: &[Item]) -> usize {
        let units = items.iter().zip(&self.of_items).rev();
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
        self.of_items.push(Some(unit));
    }

    fn keep_unanswered(&mut self, items: &[Item]) {
        for (item, unit) in items.iter().zip(&self.of_items).rev() {
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
        let units = items.iter().zip(&self.of_items).rev();
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

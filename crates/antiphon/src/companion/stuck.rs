//! Stored items that are deleted before a turn: the server accepts no turn after them, or their
//! real output has arrived.

use std::collections::HashSet;

use super::admission::Admission;
use super::history::History;
use super::report::Report;
use crate::item::{Item, ItemId};
use crate::placeholder::LateOutput;
use crate::repair::blocking_items;
use crate::transcript::{Body, HeldItem};

/// The items of a conversation to delete before its next turn.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockingItems {
    /// Items that no request can repair, each with the name of its fault.
    blocking_items: Vec<(HeldItem, &'static str)>,
    /// Placeholder outputs whose real outputs arrived, each with the position of the real output in
    /// the input.
    late: Vec<(HeldItem, usize)>,
}

impl BlockingItems {
    /// The blocking items for this input. `items` has the stored items at the positions `held_at`,
    /// followed by the new items.
    pub(super) fn in_the_way_of(
        admission: &Admission<'_>,
        held_at: &[usize],
        items: &[Item],
    ) -> Self {
        let found = blocking_items(held_at.len(), items).into_iter().map(|found| {
            let held = &admission.transcript.items()[held_at[found.position]];
            (held.clone(), found.fault.name())
        });
        Self { blocking_items: found.collect(), ..Self::of_late(admission) }
    }

    /// The placeholder outputs whose real outputs arrived.
    pub(super) fn of_late(admission: &Admission<'_>) -> Self {
        let late = admission
            .late
            .iter()
            .map(|(position, made_up)| (admission.transcript.items()[*made_up].clone(), *position));
        Self { blocking_items: Vec::new(), late: late.collect() }
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.blocking_items.is_empty() && self.late.is_empty()
    }

    /// Whether the server's ids of all these items are known. The server issues the ids of items
    /// that it receives.
    pub(super) fn is_named(&self) -> bool {
        self.items().all(|item| item.head.id.is_some())
    }

    /// The ids of all these items.
    pub(super) fn ids(&self) -> impl Iterator<Item = ItemId> {
        self.items().map(|item| item.id.clone())
    }

    /// Whether there are items that no request can repair.
    pub(super) fn has_unmendable(&self) -> bool {
        !self.blocking_items.is_empty()
    }

    /// The ids of the items that no request can repair.
    pub(super) fn unmendable_ids(&self) -> HashSet<ItemId> {
        self.blocking_items.iter().map(|(item, _)| item.id.clone()).collect()
    }

    fn items(&self) -> impl Iterator<Item = &HeldItem> {
        let blocking_items = self.blocking_items.iter().map(|(item, _)| item);
        blocking_items.chain(self.late.iter().map(|(item, _)| item))
    }

    /// Reports the deleted items among them.
    pub(super) fn report(&self, deleted: &HashSet<ItemId>, input: &[Item], report: &mut Report) {
        let is_gone = |held: &HeldItem| deleted.contains(&held.id);
        for (held, fault) in self.blocking_items.iter().filter(|(held, _)| is_gone(held)) {
            report.deleted_upstream(&as_item(held), fault);
        }
        for (made_up, position) in self.late.iter().filter(|(held, _)| is_gone(held)) {
            report.gave_way_upstream(&as_item(made_up));
            report.late_output(*position, &input[*position], LateOutput::Replaces);
        }
    }

    /// Reports the items that the turn leaves out of its context.
    pub(super) fn report_left_behind(&self, report: &mut Report) {
        for (held, fault) in &self.blocking_items {
            report.left_behind(&as_item(held), fault);
        }
    }
}

/// The history after these items were deleted.
pub(super) fn without(history: &History, deleted: &HashSet<ItemId>) -> History {
    let transcript = history.transcript();
    let items = transcript.items().iter().cloned().map(|item| match deleted.contains(&item.id) {
        true => HeldItem { body: Body::Erased, ..item },
        false => item,
    });
    History::of(items)
}

/// The history without these items, which the turn leaves out of its context.
pub(super) fn around(history: &History, left_behind: &HashSet<ItemId>) -> History {
    let transcript = history.transcript();
    let items = transcript.items().iter().filter(|item| !left_behind.contains(&item.id));
    History::of(items.cloned())
}

fn as_item(held: &HeldItem) -> Item {
    Item::outline(held.head.clone())
}

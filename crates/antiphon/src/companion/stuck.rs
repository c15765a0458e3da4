//! What a server holds that is deleted there, because it takes no turn behind it, or because the real
//! thing has come.

use std::collections::HashSet;

use super::admission::Admission;
use super::history::History;
use super::report::Report;
use crate::item::{Item, ItemId};
use crate::made_up::LateOutput;
use crate::repair::unmendable;
use crate::transcript::{Body, HeldItem};

/// What of a conversation is better deleted before its next turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Stuck {
    /// What no request mends, and what the server says of it.
    unmendable: Vec<(HeldItem, &'static str)>,
    /// Made-up outputs of calls whose real outputs came: each with its place in the input.
    late: Vec<(HeldItem, usize)>,
}

impl Stuck {
    /// What is in the way of this input: `items` are what is held at these places, and what is new behind
    /// it.
    pub(super) fn in_the_way_of(
        admission: &Admission<'_>,
        held_at: &[usize],
        items: &[Item],
    ) -> Self {
        let found = unmendable(held_at.len(), items).into_iter().map(|found| {
            let held = &admission.transcript.items()[held_at[found.position]];
            (held.clone(), found.fault.name())
        });
        Self { unmendable: found.collect(), ..Self::of_late(admission) }
    }

    /// Made-up outputs whose real ones have come.
    pub(super) fn of_late(admission: &Admission<'_>) -> Self {
        let late = admission
            .late
            .iter()
            .map(|(position, made_up)| (admission.transcript.items()[*made_up].clone(), *position));
        Self { unmendable: Vec::new(), late: late.collect() }
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.unmendable.is_empty() && self.late.is_empty()
    }

    /// Whether the server's own ids of all of it are known: it issues those of what it is sent.
    pub(super) fn is_named(&self) -> bool {
        self.items().all(|item| item.head.id.is_some())
    }

    /// The ids under which all of it is held.
    pub(super) fn ids(&self) -> impl Iterator<Item = ItemId> {
        self.items().map(|item| item.id.clone())
    }

    /// Whether there is something that no request mends.
    pub(super) fn has_unmendable(&self) -> bool {
        !self.unmendable.is_empty()
    }

    /// The ids of what no request mends.
    pub(super) fn unmendable_ids(&self) -> HashSet<ItemId> {
        self.unmendable.iter().map(|(item, _)| item.id.clone()).collect()
    }

    fn items(&self) -> impl Iterator<Item = &HeldItem> {
        let unmendable = self.unmendable.iter().map(|(item, _)| item);
        unmendable.chain(self.late.iter().map(|(item, _)| item))
    }

    /// Tells of what was deleted of it.
    pub(super) fn report(&self, deleted: &HashSet<ItemId>, input: &[Item], report: &mut Report) {
        let is_gone = |held: &HeldItem| deleted.contains(&held.id);
        for (held, fault) in self.unmendable.iter().filter(|(held, _)| is_gone(held)) {
            report.deleted_upstream(&as_item(held), fault);
        }
        for (made_up, position) in self.late.iter().filter(|(held, _)| is_gone(held)) {
            report.gave_way_upstream(&as_item(made_up));
            report.late_output(*position, &input[*position], LateOutput::Replaces);
        }
    }

    /// Tells of what the turn goes on around.
    pub(super) fn report_left_behind(&self, report: &mut Report) {
        for (held, fault) in &self.unmendable {
            report.left_behind(&as_item(held), fault);
        }
    }
}

/// What is left of a history where these were deleted.
pub(super) fn without(history: &History, deleted: &HashSet<ItemId>) -> History {
    let transcript = history.transcript();
    let items = transcript.items().iter().cloned().map(|item| match deleted.contains(&item.id) {
        true => HeldItem { body: Body::Erased, ..item },
        false => item,
    });
    History::of(items)
}

/// What is left of a history that is gone on from around these.
pub(super) fn around(history: &History, left_behind: &HashSet<ItemId>) -> History {
    let transcript = history.transcript();
    let items = transcript.items().iter().filter(|item| !left_behind.contains(&item.id));
    History::of(items.cloned())
}

fn as_item(held: &HeldItem) -> Item {
    Item::outline(held.head.clone())
}

//! Stored items that are deleted before a turn.

use std::collections::HashSet;

use crate::item::ItemId;
use crate::transcript::{HeldItem, Transcript};

/// The items of a conversation to delete before its next turn: the server accepts no turn after
/// them, or their real output has arrived.
#[derive(Clone, Debug, Default)]
pub struct BlockingItems {
    unrepairable: Vec<(HeldItem, &'static str)>,
    late: Vec<(HeldItem, usize)>,
}

impl BlockingItems {
    /// The message of reports for a deleted item that no request can repair.
    pub const DELETED: &str = "The upstream took no turn behind the item, which was deleted there.";
    /// The message of reports for a deleted placeholder.
    pub const PLACEHOLDER_DELETED: &str =
        "The output that was made up was deleted: the real one takes its place.";
    /// The message of reports for an item that a detour avoids.
    pub const AVOIDED: &str = "The upstream took no turn behind the item. This one goes on from \
                               the response before it, and refers to what else stood there.";

    /// `unrepairable` has the items that no request can repair, `late` the late outputs: the
    /// position in the input, and the position of the placeholder in the transcript.
    pub(super) fn new(
        unrepairable: Vec<(HeldItem, &'static str)>,
        transcript: &Transcript,
        late: &[(usize, usize)],
    ) -> Self {
        let stored = |at: usize| transcript.items()[at].clone();
        let late = late.iter().map(|(position, placeholder)| (stored(*placeholder), *position));
        Self { unrepairable, late: late.collect() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.unrepairable.is_empty() && self.late.is_empty()
    }

    /// The items that no request can repair, each with the name of its fault.
    pub fn unrepairable(&self) -> &[(HeldItem, &'static str)] {
        &self.unrepairable
    }

    /// The ids of the items that no request can repair.
    pub fn unrepairable_ids(&self) -> HashSet<ItemId> {
        self.unrepairable.iter().map(|(item, _)| item.id.clone()).collect()
    }

    /// The placeholder outputs whose real outputs arrived, each with the position of the real
    /// output in the input.
    pub fn late(&self) -> &[(HeldItem, usize)] {
        &self.late
    }

    /// The ids of all these items.
    pub fn ids(&self) -> impl Iterator<Item = &ItemId> {
        self.items().map(|item| &item.id)
    }

    /// Whether the server's ids of all these items are known. The server issues the ids of items
    /// that it receives.
    pub fn have_server_ids(&self) -> bool {
        self.items().all(|item| item.head.id.is_some())
    }

    /// Those of these items that were deleted.
    #[must_use]
    pub fn only(mut self, deleted: &HashSet<ItemId>) -> Self {
        self.unrepairable.retain(|(item, _)| deleted.contains(&item.id));
        self.late.retain(|(item, _)| deleted.contains(&item.id));
        self
    }

    fn items(&self) -> impl Iterator<Item = &HeldItem> {
        let unrepairable = self.unrepairable.iter().map(|(item, _)| item);
        unrepairable.chain(self.late.iter().map(|(item, _)| item))
    }
}

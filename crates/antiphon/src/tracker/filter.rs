//! Finds the sources of the items that a filter returned for a request.

use std::collections::{HashMap, HashSet};

use super::attempt::{SentItem, by_occurrence};
use super::identity::EqualItems;
use super::{Attempt, Occurrence, Plan, SendError, Tracker};
use crate::item::Item;

/// An item that a filter returned.
#[derive(Clone, Debug, PartialEq)]
pub struct Returned {
    /// The planned item that it is, changed or not; `None` if the filter does not specify it.
    pub occurrence: Option<Occurrence>,
    /// The item to send.
    pub item: Item,
}

/// A filter returned an item without its source, and several planned items equal it. The tracker
/// could not know later which of them was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "item {position} of the filter equals {} planned items: its source is ambiguous",
    .candidates.len()
)]
pub struct AmbiguousRebuild {
    /// The item's position in the returned list.
    pub position: usize,
    /// The planned items that equal it.
    pub candidates: Vec<Occurrence>,
}

impl Tracker {
    /// Marks the items that a filter returned for `plan` as sent. Call it right before the request.
    ///
    /// An item with a source marks that occurrence. An item without one marks the planned item that
    /// equals it. If several planned items equal it and as many came back, it marks all of them. If
    /// none does, the filter added the item: it is part of this request only, and not pending if
    /// the request fails. Items that the filter removed stay pending. `plan` must be the tracker's
    /// latest plan.
    pub fn send_filtered(
        &mut self,
        plan: &Plan,
        returned: Vec<Returned>,
    ) -> Result<Attempt, SendError> {
        let sources = Sources::resolve(plan, &returned)?.by_position;
        let now = self.plan();
        let current = by_occurrence(&now);
        if let Some(stale) = sources.iter().flatten().find(|source| !current.contains_key(source)) {
            return Err(SendError::NotPlanned(*stale));
        }
        let going = returned.into_iter().zip(sources);
        Ok(self.open_attempt(
            going.map(|(returned, source)| SentItem { source, item: returned.item }).collect(),
        ))
    }
}

/// The sources of the items that a filter returned.
struct Sources {
    by_position: Vec<Option<Occurrence>>,
    claimed: HashSet<Occurrence>,
}

/// Returned items that each equal all of the same planned items.
struct Rebuilt {
    candidates: Vec<Occurrence>,
    positions: Vec<usize>,
}

impl Sources {
    fn resolve(plan: &Plan, returned: &[Returned]) -> Result<Self, SendError> {
        let claimed: Vec<_> = returned.iter().map(|returned| returned.occurrence).collect();
        let mut sources = Self { by_position: claimed.clone(), claimed: HashSet::new() };
        for source in claimed.into_iter().flatten() {
            sources.claim(source).then_some(()).ok_or(SendError::Twice(source))?;
        }
        for rebuilt in sources.rebuilt(plan, returned) {
            sources.assign(rebuilt)?;
        }
        Ok(sources)
    }

    /// Claims the source. Returns `false` if another item has it.
    fn claim(&mut self, source: Occurrence) -> bool {
        self.claimed.insert(source)
    }

    /// Assigns the candidates to the returned items. All candidates must have come back, otherwise
    /// the source is ambiguous. Any further returned items are additions by the filter.
    fn assign(&mut self, rebuilt: Rebuilt) -> Result<(), AmbiguousRebuild> {
        let Rebuilt { candidates, positions } = rebuilt;
        let are_all_back = positions.len() >= candidates.len();
        if !are_all_back || !candidates.iter().all(|source| self.claim(*source)) {
            return Err(AmbiguousRebuild { position: positions[0], candidates });
        }
        for (position, source) in positions.into_iter().zip(candidates) {
            self.by_position[position] = Some(source);
        }
        Ok(())
    }

    /// The returned items without a source, grouped by the planned items that they equal. Items
    /// that equal no planned item are not included.
    fn rebuilt(&self, plan: &Plan, returned: &[Returned]) -> Vec<Rebuilt> {
        let planned = plan.items.iter().enumerate();
        let lookalikes = EqualItems::new(planned.map(|(at, planned)| (at, &planned.item)));
        let mut groups: HashMap<Vec<Occurrence>, Vec<usize>> = HashMap::new();
        let unattributed =
            returned.iter().enumerate().filter(|(_, item)| item.occurrence.is_none());
        for (position, returned) in unattributed {
            let equal = lookalikes.equal_to(&returned.item).into_iter();
            let sources = equal.map(|at| plan.items[at].occurrence);
            let candidates: Vec<_> = sources.filter(|at| !self.claimed.contains(at)).collect();
            groups.entry(candidates).or_default().push(position);
        }
        groups.remove(&Vec::new());
        let group = |(candidates, positions)| Rebuilt { candidates, positions };
        let mut groups: Vec<_> = groups.into_iter().map(group).collect();
        groups.sort_unstable_by_key(|rebuilt| rebuilt.positions[0]);
        groups
    }
}

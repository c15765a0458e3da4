//! What a filter makes of a request, and where each of its items comes from.

use std::collections::{HashMap, HashSet};

use super::identity::Lookalikes;
use super::send::{Going, by_occurrence};
use super::{Attempt, Occurrence, Plan, SendError, Tracker};
use crate::item::Item;

/// An item that a filter returned.
#[derive(Clone, Debug, PartialEq)]
pub struct Returned {
    /// Which planned item it is, changed or not; `None` where the filter does not say.
    pub occurrence: Option<Occurrence>,
    /// The item to send.
    pub item: Item,
}

/// A filter returned an item without saying where it comes from, and several planned items equal
/// it. Which of them was sent could not be known afterwards.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("item {position} that the filter returned may be any of {} planned items", .candidates.len())]
pub struct AmbiguousRebuild {
    /// The item's position in what the filter returned.
    pub position: usize,
    /// What it may be.
    pub candidates: Vec<Occurrence>,
}

impl Tracker {
    /// Marks what a filter returned for `plan`, right before it goes.
    ///
    /// An item that says where it comes from marks that occurrence. One that does not marks the
    /// planned item that equals it; where several do and as many came back, all of them. Where none
    /// does, the filter added it: it goes with this request and is not pending if that fails. What
    /// the filter left out stays pending. `plan` has to be the tracker's latest.
    pub fn send_filtered(
        &mut self,
        plan: &Plan,
        returned: Vec<Returned>,
    ) -> Result<Attempt, SendError> {
        let sources = Sources::of(plan, &returned)?.by_position;
        let now = self.plan();
        let current = by_occurrence(&now);
        if let Some(stale) = sources.iter().flatten().find(|source| !current.contains_key(source)) {
            return Err(SendError::NotPlanned(*stale));
        }
        let going = returned.into_iter().zip(sources);
        Ok(self
            .mark(going.map(|(returned, source)| Going { source, item: returned.item }).collect()))
    }
}

/// Where the items that a filter returned come from.
struct Sources {
    by_position: Vec<Option<Occurrence>>,
    claimed: HashSet<Occurrence>,
}

/// Items that may each be any of the same planned items.
struct Rebuilt {
    candidates: Vec<Occurrence>,
    positions: Vec<usize>,
}

impl Sources {
    fn of(plan: &Plan, returned: &[Returned]) -> Result<Self, SendError> {
        let told: Vec<_> = returned.iter().map(|returned| returned.occurrence).collect();
        let mut sources = Self { by_position: told.clone(), claimed: HashSet::new() };
        for source in told.into_iter().flatten() {
            sources.claim(source).then_some(()).ok_or(SendError::Twice(source))?;
        }
        for rebuilt in sources.rebuilt(plan, returned) {
            sources.settle(rebuilt)?;
        }
        Ok(sources)
    }

    /// Whether nothing else has claimed the source.
    fn claim(&mut self, source: Occurrence) -> bool {
        self.claimed.insert(source)
    }

    /// All candidates returned, or it cannot be told which. What came back besides, the filter
    /// added.
    fn settle(&mut self, rebuilt: Rebuilt) -> Result<(), AmbiguousRebuild> {
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

    /// The items that do not say where they come from, grouped by what they may be. Those that can
    /// be nothing planned are not among them.
    fn rebuilt(&self, plan: &Plan, returned: &[Returned]) -> Vec<Rebuilt> {
        let planned = plan.items.iter().enumerate();
        let lookalikes = Lookalikes::of(planned.map(|(at, planned)| (at, &planned.item)));
        let mut groups: HashMap<Vec<Occurrence>, Vec<usize>> = HashMap::new();
        let untold = returned.iter().enumerate().filter(|(_, item)| item.occurrence.is_none());
        for (position, returned) in untold {
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

//! Mends what a provider would refuse, in the view that is sent and not in what is stored.
//!
//! Laws: after a repair [`check`] finds nothing; a well-formed list is unchanged; repairing twice
//! changes nothing more; the order of what stays is kept; time is linear.

mod calls;
mod ids;
mod reasoning;
mod silence;
#[cfg(test)]
mod tests;

use crate::faults::Fault;
use crate::item::{Item, ItemId};

/// A list of items that a provider accepts, and what it took to get there.
#[derive(Clone, Debug, PartialEq)]
pub struct Repaired {
    /// The items to send.
    pub items: Vec<Item>,
    /// What was mended, by the position in the list that was given.
    pub mends: Vec<Mend>,
}

/// One fault and what was done about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mend {
    /// The item's position in the list that was given.
    pub position: usize,
    /// The item's id, where it has one.
    pub id: Option<ItemId>,
    /// What a provider would have refused.
    pub fault: Fault,
    /// What was done.
    pub action: Action,
}

/// What a repair does about a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The item is left out.
    Dropped,
    /// An output that says that there is none was put behind the call.
    Answered,
    /// The item goes without its id.
    IdRemoved,
    /// The call and its output go under another `call_id`.
    Renamed,
    /// The output gave way to a later one of the same call.
    Replaced,
}

impl Action {
    /// The action's name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Answered => "answered",
            Self::IdRemoved => "id_removed",
            Self::Renamed => "renamed",
            Self::Replaced => "replaced",
        }
    }
}

/// What a provider would refuse in `items`, in order of position.
pub fn check(items: &[Item]) -> Vec<(usize, Fault)> {
    repair(items)
        .mends
        .into_iter()
        .map(|mend| (mend.position, mend.fault))
        .collect()
}

/// Mends `items`. Items that need no change keep their bytes.
pub fn repair(items: &[Item]) -> Repaired {
    let mut draft = Draft::of(items);
    ids::mend(&mut draft);
    calls::mend(&mut draft);
    reasoning::mend(&mut draft);
    draft.finish()
}

/// The list while it is being mended. Positions stay those of the list that was given.
struct Draft {
    slots: Vec<Slot>,
    mends: Vec<Mend>,
}

#[derive(Clone)]
struct Slot {
    /// The item as it will be sent; `None` where it is left out.
    item: Option<Item>,
    /// What follows it that was not in the list.
    behind: Vec<Item>,
}

impl Draft {
    fn of(items: &[Item]) -> Self {
        let slot = |item: &Item| Slot {
            item: Some(item.clone()),
            behind: Vec::new(),
        };
        Self {
            slots: items.iter().map(slot).collect(),
            mends: Vec::new(),
        }
    }

    /// The items that are still there, with their positions.
    fn items(&self) -> impl DoubleEndedIterator<Item = (usize, &Item)> {
        self.slots
            .iter()
            .enumerate()
            .filter_map(|(at, slot)| Some((at, slot.item.as_ref()?)))
    }

    fn note(&mut self, position: usize, fault: Fault, action: Action) {
        let id = self.slots[position]
            .item
            .as_ref()
            .and_then(|item| item.head().id.clone());
        self.mends.push(Mend {
            position,
            id,
            fault,
            action,
        });
    }

    fn drop_item(&mut self, position: usize, fault: Fault) {
        self.note(position, fault, Action::Dropped);
        self.slots[position].item = None;
    }

    fn change(&mut self, position: usize, change: impl FnOnce(&Item) -> Item) {
        let slot = &mut self.slots[position];
        slot.item = slot.item.take().map(|item| change(&item));
    }

    fn finish(mut self) -> Repaired {
        self.mends.sort_by_key(|mend| mend.position);
        let items = self
            .slots
            .into_iter()
            .flat_map(|slot| slot.item.into_iter().chain(slot.behind));
        Repaired {
            items: items.collect(),
            mends: self.mends,
        }
    }
}

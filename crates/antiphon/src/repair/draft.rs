//! A list while it is being mended.

use super::{Action, Mend, Repaired};
use crate::faults::Fault;
use crate::item::{Item, Kind};

/// The list, with positions as they were given.
pub(super) struct Draft {
    slots: Vec<Slot>,
    /// How many of the first slots a server holds. What is held is never left out or changed.
    held: usize,
    mends: Vec<Mend>,
    /// Mends that only other mends made necessary.
    consequences: Vec<Mend>,
}

struct Slot {
    /// The item as it will be sent; `None` where it is left out.
    item: Option<Item>,
    /// Whether it is still as it was given.
    is_as_given: bool,
    /// What follows it that was not in the list.
    behind: Vec<Item>,
}

impl Slot {
    fn of(item: &Item) -> Self {
        Self { item: Some(item.clone()), is_as_given: true, behind: Vec::new() }
    }
}

impl Draft {
    pub(super) fn of(items: &[Item]) -> Self {
        Self::behind(0, items)
    }

    /// The list of `items`, the first `held` of which are a server's and stand before it.
    pub(super) fn behind(held: usize, items: &[Item]) -> Self {
        Self {
            slots: items.iter().map(Slot::of).collect(),
            held,
            mends: Vec::new(),
            consequences: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn is_held(&self, position: usize) -> bool {
        position < self.held
    }

    /// Whether the last thing that the server holds is reasoning.
    pub(super) fn holds_reasoning_last(&self) -> bool {
        let last = self.held.checked_sub(1).and_then(|last| self.get(last));
        last.is_some_and(|item| item.head().kind == Kind::Reasoning)
    }

    /// The position among the items that are not held; `None` for one that is.
    pub(super) fn position_in_list(&self, position: usize) -> Option<usize> {
        position.checked_sub(self.held)
    }

    /// The items that are still there, with their positions.
    pub(super) fn items(&self) -> impl DoubleEndedIterator<Item = (usize, &Item)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(position, slot)| Some((position, slot.item.as_ref()?)))
    }

    /// The item at `position`, if it is still there.
    pub(super) fn get(&self, position: usize) -> Option<&Item> {
        self.slots[position].item.as_ref()
    }

    /// The item at `position`, which is still there.
    pub(super) fn item(&self, position: usize) -> &Item {
        self.get(position).expect("an item is asked for before it is left out")
    }

    /// Whether the two items say the same.
    pub(super) fn are_same(&self, one: usize, two: usize) -> bool {
        self.item(one).says_the_same_as(self.item(two))
    }

    /// Takes note of a fault. Of what is held only a missing answer is one.
    pub(super) fn note(&mut self, position: usize, fault: Fault, action: Action) {
        if self.is_held(position) && !matches!(fault, Fault::UnansweredCall { .. }) {
            return;
        }
        let mend = self.mend(position, fault, action);
        self.mends.push(mend);
    }

    pub(super) fn leave_out(&mut self, position: usize, fault: Fault, action: Action) {
        if self.is_held(position) {
            return;
        }
        self.note(position, fault, action);
        self.slots[position].item = None;
    }

    /// Leaves out what was in order before another mend.
    pub(super) fn leave_out_in_consequence(&mut self, position: usize, fault: Fault) {
        if self.is_held(position) {
            return;
        }
        let mend = self.mend(position, fault, Action::Dropped);
        self.consequences.push(mend);
        self.slots[position].item = None;
    }

    pub(super) fn change(&mut self, position: usize, change: impl FnOnce(&Item) -> Item) {
        if self.is_held(position) {
            return;
        }
        let changed = change(self.item(position));
        let slot = &mut self.slots[position];
        slot.item = Some(changed);
        slot.is_as_given = false;
    }

    pub(super) fn put_behind(&mut self, position: usize, item: Item) {
        self.slots[position].behind.push(item);
    }

    /// Of the faults that the list was given with and that `is_meant` means the one that a provider
    /// names first.
    pub(super) fn first_fault(&self, is_meant: impl Fn(&Fault) -> bool) -> Option<&Mend> {
        self.mends.iter().filter(|mend| is_meant(&mend.fault)).min_by_key(|mend| order(mend))
    }

    /// The faults that the list was given with.
    pub(super) fn into_faults(mut self) -> Vec<Mend> {
        self.mends.sort_by_key(order);
        self.mends
    }

    /// What is not held, mended.
    pub(super) fn into_repaired(mut self) -> Repaired {
        let slots = std::mem::take(&mut self.slots);
        let consequences = std::mem::take(&mut self.consequences);
        let held = self.held;
        let (items, sources) = (Vec::with_capacity(slots.len()), Vec::with_capacity(slots.len()));
        let mut repaired = Repaired { items, sources, mends: Vec::new() };
        for (position, slot) in slots.into_iter().enumerate() {
            let source = slot.is_as_given.then_some(position);
            let own = slot.item.filter(|_| position >= held).map(|item| (item, source));
            let behind = slot.behind.into_iter().map(|item| (item, None));
            for (item, source) in own.into_iter().chain(behind) {
                repaired.items.push(item);
                repaired.sources.push(source);
            }
        }
        repaired.mends = self.into_faults();
        repaired.mends.extend(consequences);
        repaired
    }

    fn mend(&self, position: usize, fault: Fault, action: Action) -> Mend {
        Mend { position, id: self.item(position).head().id.clone(), fault, action }
    }
}

/// The order in which a provider names faults.
fn order(mend: &Mend) -> (bool, usize) {
    (!mend.fault.is_of_form(), mend.position)
}

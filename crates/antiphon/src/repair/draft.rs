//! A list of items under repair.

use std::collections::HashMap;

use super::{Action, Repair, Repaired};
use crate::faults::Fault;
use crate::item::{CallKey, Item, Kind};

/// The list. Positions are those of the given items.
pub(super) struct Draft {
    slots: Vec<Slot>,
    /// How many of the first items the server holds. Those are never left out or changed.
    held: usize,
    /// How many calls outside the list the server is known to hold.
    calls_elsewhere: HashMap<CallKey, usize>,
    repairs: Vec<Repair>,
    /// Repairs that only other repairs made necessary.
    consequences: Vec<Repair>,
}

struct Slot {
    /// The item to send; `None` if it is left out.
    item: Option<Item>,
    /// Whether the item is unchanged.
    is_as_given: bool,
    /// Items inserted after it.
    after: Vec<Item>,
}

impl Slot {
    fn new(item: &Item) -> Self {
        Self { item: Some(item.clone()), is_as_given: true, after: Vec::new() }
    }
}

impl Draft {
    pub(super) fn new(items: &[Item]) -> Self {
        Self::with_held(0, items)
    }

    /// A draft of `items`, the first `held` of which the server holds.
    pub(super) fn with_held(held: usize, items: &[Item]) -> Self {
        Self {
            slots: items.iter().map(Slot::new).collect(),
            held,
            calls_elsewhere: HashMap::new(),
            repairs: Vec::new(),
            consequences: Vec::new(),
        }
    }

    /// The draft of a list whose server also holds these calls.
    pub(super) fn with_calls_elsewhere(self, calls_elsewhere: HashMap<CallKey, usize>) -> Self {
        Self { calls_elsewhere, ..self }
    }

    /// How many calls with this key outside the list the server is known to hold.
    pub(super) fn calls_elsewhere(&self, key: &CallKey) -> usize {
        self.calls_elsewhere.get(key).copied().unwrap_or_default()
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn is_held(&self, position: usize) -> bool {
        position < self.held
    }

    /// Whether the last item that the server holds is reasoning.
    pub(super) fn holds_reasoning_last(&self) -> bool {
        let last = self.held.checked_sub(1).and_then(|last| self.get(last));
        last.is_some_and(|item| item.head().kind == Kind::Reasoning)
    }

    /// The position among the items that the server does not hold; `None` for one that it does.
    pub(super) fn position_in_list(&self, position: usize) -> Option<usize> {
        position.checked_sub(self.held)
    }

    /// The remaining items, with their positions.
    pub(super) fn items(&self) -> impl DoubleEndedIterator<Item = (usize, &Item)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(position, slot)| Some((position, slot.item.as_ref()?)))
    }

    /// The item at `position`; `None` if it was left out.
    pub(super) fn get(&self, position: usize) -> Option<&Item> {
        self.slots[position].item.as_ref()
    }

    /// The item at `position`, which must not have been left out.
    pub(super) fn item(&self, position: usize) -> &Item {
        self.get(position).expect("the item has not been left out")
    }

    /// Whether the two items have the same content.
    pub(super) fn are_same(&self, one: usize, two: usize) -> bool {
        self.item(one).has_same_content(self.item(two))
    }

    /// Records a fault. Of held items, only a missing output counts.
    pub(super) fn note(&mut self, position: usize, fault: Fault, action: Action) {
        if self.is_held(position) && !matches!(fault, Fault::UnansweredCall { .. }) {
            return;
        }
        let repair = self.create_repair(position, fault, action);
        self.repairs.push(repair);
    }

    pub(super) fn leave_out(&mut self, position: usize, fault: Fault, action: Action) {
        if self.is_held(position) {
            return;
        }
        self.note(position, fault, action);
        self.slots[position].item = None;
    }

    /// Leaves out an item that was correct before another repair.
    pub(super) fn leave_out_as_consequence(&mut self, position: usize, fault: Fault) {
        if self.is_held(position) {
            return;
        }
        let repair = self.create_repair(position, fault, Action::Dropped);
        self.consequences.push(repair);
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

    pub(super) fn insert_after(&mut self, position: usize, item: Item) {
        self.slots[position].after.push(item);
    }

    /// The fault that a provider names first, among the given list's faults that `is_meant`
    /// selects.
    pub(super) fn first_fault(&self, is_meant: impl Fn(&Fault) -> bool) -> Option<&Repair> {
        self.repairs
            .iter()
            .filter(|repair| is_meant(&repair.fault))
            .min_by_key(|repair| order(repair))
    }

    /// The faults of the given list.
    pub(super) fn into_faults(mut self) -> Vec<Repair> {
        self.repairs.sort_by_key(order);
        self.repairs
    }

    /// The repaired list, without the held items.
    pub(super) fn into_repaired(mut self) -> Repaired {
        let slots = std::mem::take(&mut self.slots);
        let consequences = std::mem::take(&mut self.consequences);
        let held = self.held;
        let (items, sources) = (Vec::with_capacity(slots.len()), Vec::with_capacity(slots.len()));
        let mut repaired = Repaired { items, sources, repairs: Vec::new() };
        for (position, slot) in slots.into_iter().enumerate() {
            let source = slot.is_as_given.then_some(position);
            let own = slot.item.filter(|_| position >= held).map(|item| (item, source));
            let after = slot.after.into_iter().map(|item| (item, None));
            for (item, source) in own.into_iter().chain(after) {
                repaired.items.push(item);
                repaired.sources.push(source);
            }
        }
        repaired.repairs = self.into_faults();
        repaired.repairs.extend(consequences);
        repaired
    }

    fn create_repair(&self, position: usize, fault: Fault, action: Action) -> Repair {
        Repair { position, id: self.item(position).head().id.clone(), fault, action }
    }
}

/// The order in which a provider names faults.
fn order(repair: &Repair) -> (bool, usize) {
    (!repair.fault.is_of_form(), repair.position)
}

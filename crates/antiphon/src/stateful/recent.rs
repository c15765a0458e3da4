//! A cache that drops the least recently used values.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A conversation or a response of an account.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Name {
    account: Arc<str>,
    id: Arc<str>,
}

impl Name {
    pub(super) fn new(account: &str, id: &str) -> Self {
        Self { account: account.into(), id: id.into() }
    }
}

/// Values by name. If there is no room for all of them, the least recently used are dropped.
pub(super) struct Recent<V> {
    entries: HashMap<Name, Entry<V>>,
    /// The names in the order of their last use.
    order: BTreeMap<u64, Name>,
    uses: u64,
    weight: usize,
    room: usize,
    may_go: fn(&V) -> bool,
}

struct Entry<V> {
    value: V,
    used: u64,
    weight: usize,
}

/// The weight of an entry in addition to its value.
const BASE: usize = 4;

impl<V> Recent<V> {
    /// Creates a cache for values with this total weight. Only values for which `may_go` returns
    /// true are dropped.
    pub(super) fn with_room(room: usize, may_go: fn(&V) -> bool) -> Self {
        let (entries, order) = (HashMap::new(), BTreeMap::new());
        Self { entries, order, uses: 0, weight: 0, room, may_go }
    }

    /// Returns the value of this name and marks it as used.
    pub(super) fn used(&mut self, name: &Name) -> Option<&mut V> {
        let entry = self.entries.get_mut(name)?;
        self.uses += 1;
        self.order.remove(&entry.used);
        self.order.insert(self.uses, name.clone());
        entry.used = self.uses;
        Some(&mut entry.value)
    }

    /// Returns the value of this name, and inserts it if there is none.
    pub(super) fn used_or(&mut self, name: &Name, value: impl FnOnce() -> V) -> &mut V {
        if !self.entries.contains_key(name) {
            self.put(name, value(), 0);
        }
        self.used(name).expect("it was put there")
    }

    /// Inserts a value of this weight, and replaces the old one.
    pub(super) fn put(&mut self, name: &Name, value: V, weight: usize) {
        self.remove(name);
        self.uses += 1;
        self.order.insert(self.uses, name.clone());
        self.entries.insert(name.clone(), Entry { value, used: self.uses, weight: 0 });
        self.weigh(name, weight);
    }

    /// Sets the weight of the value of this name. If there is no room, drops other values, the
    /// least recently used first.
    pub(super) fn weigh(&mut self, name: &Name, weight: usize) {
        if let Some(entry) = self.entries.get_mut(name) {
            self.weight = self.weight - entry.weight + weight + BASE;
            entry.weight = weight + BASE;
        }
        while self.weight > self.room {
            let goes = |other: &&Name| *other != name && (self.may_go)(&self.entries[*other].value);
            let Some(goes) = self.order.values().find(goes).cloned() else { return };
            self.remove(&goes);
        }
    }

    /// Removes the value of this name.
    pub(super) fn remove(&mut self, name: &Name) {
        if let Some(entry) = self.entries.remove(name) {
            self.order.remove(&entry.used);
            self.weight -= entry.weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(id: &str) -> Name {
        Name::new("account", id)
    }

    fn recent() -> Recent<u8> {
        Recent::with_room(20, |value| *value != 0)
    }

    #[test]
    fn least_recently_used_value_is_dropped() {
        let mut recent = recent();
        recent.put(&name("a"), 1, 6);
        recent.put(&name("b"), 2, 6);
        recent.used(&name("a"));
        recent.put(&name("c"), 3, 6);
        assert_eq!(recent.used(&name("a")), Some(&mut 1));
        assert_eq!(recent.used(&name("b")), None);
        assert_eq!(recent.used(&name("c")), Some(&mut 3));
    }

    #[test]
    fn pinned_value_stays() {
        let mut recent = recent();
        for id in ["a", "b", "c"] {
            recent.put(&name(id), 0, 6);
        }
        assert!(["a", "b", "c"].iter().all(|id| recent.used(&name(id)).is_some()));
    }

    #[test]
    fn new_value_stays_despite_its_weight() {
        let mut recent = recent();
        recent.put(&name("a"), 1, 0);
        *recent.used_or(&name("b"), || 2) = 3;
        recent.weigh(&name("b"), 100);
        assert_eq!(recent.used(&name("a")), None);
        assert_eq!(recent.used(&name("b")), Some(&mut 3));
        recent.put(&name("c"), 4, 1);
        assert_eq!(recent.used(&name("b")), None);
    }
}

//! What was used last, as much of it as there is room for.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A conversation or a response of an account.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Name {
    account: Arc<str>,
    id: Arc<str>,
}

impl Name {
    pub(super) fn of(account: &str, id: &str) -> Self {
        Self { account: account.into(), id: id.into() }
    }
}

/// Values by name, the least recently used of which go where there is no room for all.
pub(super) struct Recent<V> {
    entries: HashMap<Name, Entry<V>>,
    /// The names by when they were used.
    order: BTreeMap<u64, Name>,
    uses: u64,
    weight: usize,
    room: usize,
}

struct Entry<V> {
    value: V,
    used: u64,
    weight: usize,
}

/// What an entry weighs beside its value.
const BASE: usize = 4;

impl<V> Recent<V> {
    /// Room for values of this weight.
    pub(super) fn with_room(room: usize) -> Self {
        Self { entries: HashMap::new(), order: BTreeMap::new(), uses: 0, weight: 0, room }
    }

    /// The value of this name, which is used now.
    pub(super) fn used(&mut self, name: &Name) -> Option<&mut V> {
        let entry = self.entries.get_mut(name)?;
        self.uses += 1;
        self.order.remove(&entry.used);
        self.order.insert(self.uses, name.clone());
        entry.used = self.uses;
        Some(&mut entry.value)
    }

    /// The value of this name, put there where there was none.
    pub(super) fn used_or(&mut self, name: &Name, value: impl FnOnce() -> V) -> &mut V {
        if !self.entries.contains_key(name) {
            self.put(name, value());
        }
        self.used(name).expect("it was put there")
    }

    /// Puts a value in the place of what was there.
    pub(super) fn put(&mut self, name: &Name, value: V) {
        self.remove(name);
        self.uses += 1;
        self.weight += BASE;
        self.order.insert(self.uses, name.clone());
        self.entries.insert(name.clone(), Entry { value, used: self.uses, weight: BASE });
    }

    /// The value of this name weighs so much now. Whatever `may_go` goes where there is no room, the least
    /// recently used first.
    pub(super) fn weigh(&mut self, name: &Name, weight: usize, may_go: impl Fn(&V) -> bool) {
        if let Some(entry) = self.entries.get_mut(name) {
            self.weight = self.weight - entry.weight + weight + BASE;
            entry.weight = weight + BASE;
        }
        while self.weight > self.room {
            let goes = self.order.values().find(|name| may_go(&self.entries[*name].value));
            let Some(name) = goes.cloned() else { return };
            self.remove(&name);
        }
    }

    /// Takes out what has this name.
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
        Name::of("account", id)
    }

    fn weighed(recent: &mut Recent<u8>, id: &str, value: u8) {
        recent.put(&name(id), value);
        recent.weigh(&name(id), 6, |value| *value != 0);
    }

    #[test]
    fn what_was_not_used_for_longest_goes_where_there_is_no_room() {
        let mut recent = Recent::with_room(20);
        weighed(&mut recent, "a", 1);
        weighed(&mut recent, "b", 2);
        recent.used(&name("a"));
        weighed(&mut recent, "c", 3);
        assert_eq!(recent.used(&name("a")), Some(&mut 1));
        assert_eq!(recent.used(&name("b")), None);
        assert_eq!(recent.used(&name("c")), Some(&mut 3));
    }

    #[test]
    fn what_may_not_go_stays() {
        let mut recent = Recent::with_room(20);
        for id in ["a", "b", "c"] {
            weighed(&mut recent, id, 0);
        }
        assert!(["a", "b", "c"].iter().all(|id| recent.used(&name(id)).is_some()));
    }
}
